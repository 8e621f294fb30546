/** The message that tells the endpoint of a run that the run has failed. */
import { limitsOf, type Account } from '../../account/account.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { expiryOf, type CallbackSettings, type Message } from '../../message/message.ts';
import { failureBody, failureSource } from './failure.ts';
import { forwardedByRun, overlaid } from '../rules/forwarding.ts';
import { settings } from '../../aws/settings.ts';
import { storeBody } from '../../message/bodies.ts';
import { putMessage } from '../../message/messages.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';
import type { LoadedRun } from '../runs/loadRun.ts';
import { loadEntryBodies } from '../runs/runEntries.ts';
import type { JournalRecord, RunKey } from '../rules/journal.ts';
import { loadSnapshot, loadRecord, readJournal } from '../store/journals.ts';

/** The delivery that failed for good. */
export interface FailedDelivery {
  readonly message: Message;
  readonly response: DestinationResponse;
  /** Retries that were made. */
  readonly retried: number;
  readonly dlqId: string;
}

/**
 * Stores the message that tells of a run's failure, over one that an earlier try has left.
 *
 * @param request its id, and when it is made, Unix milliseconds
 * @returns the message, which has no work yet; undefined for a run whose failure nobody is told
 */
export async function storeRequestOf(
  account: Account,
  run: LoadedRun,
  failed: FailedDelivery,
  request: { readonly messageId: string; readonly createdAt: number },
): Promise<Message | undefined> {
  const { start, key, snapshot, entries } = run;
  if (start.failureCallback === undefined) return undefined;
  const limits = limitsOf(account);
  const { delayMs, ...ofCallback }: CallbackSettings = start.failureCallback;
  const features = new Set(start.features);
  const source = await loadEntryBodies(features.has('InitialBody') ? entries.slice(0, 1) : entries);
  // What its deliveries had: clients before 1.0 read the user's headers from here.
  const headers = overlaid(forwardedByRun(start.forwarded, settings.headerPrefixes), failed.message.headers);
  const facts = { ...failed, message: { ...failed.message, headers }, body: failureSource(source, features) };
  const identity = { runId: key.runId, createdAt: snapshot.createdAt, url: start.url };
  const notBefore = request.createdAt + delayMs;
  const message: Message = {
    ...ofCallback,
    // Its body has the run's payload and headers: where those are redacted, it is.
    redaction: start.settings.redaction && { ...start.settings.redaction, body: true },
    labels: start.settings.labels,
    ...request,
    accountId: key.accountId,
    prefix: start.prefix,
    notBefore,
    callerIp: start.callerIp,
    workflow: {
      role: 'failureRequest',
      runId: key.runId,
      createdAt: snapshot.createdAt,
      startSeq: snapshot.startSeq,
      dlqId: failed.dlqId,
    },
    expiresAt: expiryOf({ ...ofCallback, notBefore }, limits.max_dlq_retention_time_milis),
  };
  const body = failureBody(identity, facts, limits.max_message_size);
  await ensureKeys(message);
  await putMessage(message, await storeBody(message, body, request.createdAt));
  return message;
}

/** @returns undefined for a record that says nothing of it */
function requestIn(
  record: JournalRecord | undefined,
): { readonly messageId?: string | undefined } | undefined {
  if (record?.kind === 'end') return { messageId: record.failure?.requestId };
  return record?.kind === 'failureFunction' ? { messageId: record.messageId } : undefined;
}

/**
 * Finds the id of the last failure request of a run that has failed.
 *
 * @param startSeq the place of its start in the journal of its id
 * @returns undefined where nobody is told, or the journal is not there any more
 */
export async function failureRequestIdOf(key: RunKey, startSeq: number): Promise<string | undefined> {
  const snapshot = await loadSnapshot(key);
  if (snapshot?.startSeq === startSeq) {
    // Behind the end of a run there are few records: late results of invokes.
    for (let { seq } = snapshot; seq > startSeq; seq -= 1) {
      const found = requestIn(await loadRecord(key, seq));
      if (found !== undefined) return found.messageId;
    }
    return undefined;
  }
  // The id has had another run since.
  let messageId: string | undefined;
  for await (const { record, snapshot: at } of readJournal(key, startSeq)) {
    if (at.startSeq !== startSeq) break;
    messageId = requestIn(record)?.messageId ?? messageId;
  }
  return messageId;
}
