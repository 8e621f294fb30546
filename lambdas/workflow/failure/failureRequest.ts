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
  const { start, key, head, entries } = run;
  if (start.failureCallback === undefined) return undefined;
  const limits = limitsOf(account);
  const { delayMs, ...ofCallback }: CallbackSettings = start.failureCallback;
  const features = new Set(start.features);
  const source = await loadEntryBodies(features.has('InitialBody') ? entries.slice(0, 1) : entries);
  // What its deliveries had: clients before 1.0 read the user's headers from here.
  const headers = overlaid(forwardedByRun(start.forwarded, settings.headerPrefixes), failed.message.headers);
  const facts = { ...failed, message: { ...failed.message, headers }, body: failureSource(source, features) };
  const identity = { runId: key.runId, createdAt: head.createdAt, url: start.url };
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
      createdAt: head.createdAt,
      startSeq: head.startSeq,
      dlqId: failed.dlqId,
    },
    expiresAt: expiryOf({ ...ofCallback, notBefore }, limits.max_dlq_retention_time_milis),
  };
  const body = failureBody(identity, facts, limits.max_message_size);
  await ensureKeys(message);
  await putMessage(message, await storeBody(message, body, request.createdAt));
  return message;
}
