/** Starts runs: by a client, by a request without one, by another run, or by the endpoint of a run whose client was unknown. */
import { limitsOf, type Account } from '../../domain/account/account.ts';
import { now } from '../../domain/clock.ts';
import { newId } from '../../domain/ids.ts';
import { expiryOf } from '../../domain/message/message.ts';
import type { Invoker } from '../../domain/workflow/invoking.ts';
import type {
  Head,
  ListedEntry,
  RunStart,
  StartRecord,
  UpgradeRecord,
} from '../../domain/workflow/journal.ts';
import { endedRun } from '../../domain/workflow/refusals.ts';
import { defaultRunRetries, hasEnded } from '../../domain/workflow/run.ts';
import type { StartMessage } from '../../domain/workflow/workflowMessage.ts';
import { loadRecord, loadRow, readJournal, type RunKey } from '../../stores/workflow/journals.ts';
import type { JournalRow } from '../../stores/workflow/rows.ts';
import { changeRun, type Decision } from './changeRun.ts';
import { spareMs } from './keepRun.ts';
import { storeEntryBody } from './entryBodies.ts';
import { factsOf } from './facts.ts';
import { followStart } from './follow.ts';
import type { PreparedPart } from './prepare.ts';
import { deliverEntries } from './runMessages.ts';

/** A run that was asked for. */
export interface Started {
  readonly messageId: string;
  readonly runId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** It had been started before. */
  readonly isDuplicate: boolean;
  /** Another start than this one has made it; never true of one that nothing is fixed of. */
  readonly isOther: boolean;
}

/** A run that is about to be started. */
export interface StartDraft {
  readonly runId: string;
  readonly start: RunStart;
  readonly payload: Uint8Array;
  /** Unix milliseconds before which its first delivery is not made. */
  readonly notBefore: number;
  readonly isUpgrade?: boolean;
  /**
   * Fixed where the same start may be tried again by another process: the first message, by which it is known, and when the run
   * is started.
   */
  readonly fixed?: { readonly messageId: string; readonly createdAt: number } | undefined;
}

/** Makes the facts of a run from the request that starts it. */
export function startOf(
  account: Account,
  { message, options, url, request }: PreparedPart<StartMessage>,
  invoker?: Invoker,
): RunStart {
  const { maxRetries, retryDelay, labels, flowControl, redaction, timeoutMs, headers, failureCallback } =
    options;
  const hasRetries = request.config.has('retries');
  return {
    url,
    prefix: request.prefix,
    features: [...message.features],
    sdkVersion: message.sdkVersion,
    isUnknownClient: message.isUnknownClient,
    isWithoutClient: message.isWithoutClient,
    forwarded: headers,
    settings: {
      maxRetries: hasRetries ? maxRetries : defaultRunRetries(limitsOf(account).max_retries),
      retryDelay,
      labels,
      flowControl,
      redaction,
      timeoutMs,
    },
    invokeDepth: message.invokeDepth,
    callerIp: request.callerIp,
    failureCallback: failureCallback && {
      ...failureCallback,
      // Those of its own, else the run's.
      maxRetries: request.config.has('failure-callback-retries')
        ? failureCallback.maxRetries
        : hasRetries
          ? maxRetries
          : defaultRunRetries(limitsOf(account).max_retries),
      retryDelay: failureCallback.retryDelay ?? retryDelay,
      flowControl: failureCallback.flowControl ?? flowControl,
    },
    invoker,
    scheduleId: request.fire?.scheduleId,
  };
}

const isActive = ({ state }: Head): boolean => !hasEnded(state);

/** Facts that the endpoint of an unknown client tells: all else stays as the start had it. */
const upgraded = (before: RunStart, { features, forwarded, sdkVersion }: RunStart): RunStart => ({
  ...before,
  features,
  forwarded,
  sdkVersion,
  isUnknownClient: false,
});

/**
 * Starts a run, unless its id has one that has not ended.
 *
 * @throws RunBusy, and whatever AWS fails with: the start has to be sent again then
 */
export async function startRun(account: Account, draft: StartDraft): Promise<Started> {
  const { runId, payload, start } = draft;
  const key: RunKey = { accountId: account.id, runId };
  const time = draft.fixed?.createdAt ?? now();
  const messageId = draft.fixed?.messageId ?? newId('msg', time, account.shards);
  const retentionMs = limitsOf(account).max_dlq_retention_time_milis;
  const keptUntil = expiryOf({ ...start.settings, notBefore: draft.notBefore }, retentionMs) + spareMs;
  const body = await storeEntryBody(
    { accountId: account.id, messageId, expiresAt: keptUntil },
    payload,
    time,
  );
  const entry: ListedEntry = {
    messageId,
    url: start.url,
    createdAt: time,
    notBefore: draft.notBefore,
    body,
    bodyBytes: payload.length,
  };

  const { record, head, result } = await changeRun(key, async (found): Promise<Decision<Verdict>> => {
    const same = found && draft.fixed && (await startedBefore(key, found, draft.fixed));
    if (same !== undefined) return { result: { same } };
    if (found === undefined || !isActive(found)) {
      // Its endpoint is told to go on with a run that has ended meanwhile: that begins no other.
      if (draft.isUpgrade === true) throw endedRun(runId);
      // Runs of one id are told apart by when they were started.
      const at = Math.max(time, (found?.createdAt ?? 0) + 1);
      return {
        record: { kind: 'start', at, start, entry } satisfies StartRecord,
        keptUntil,
        result: {},
      };
    }
    if (draft.isUpgrade !== true || found.entries > 1 || isUpgraded(found)) return { result: {} };
    const facts = await factsOf(key, found);
    const record: UpgradeRecord = { kind: 'upgrade', at: time, start: upgraded(facts, start), messageId };
    return { record, result: {} };
  });
  if (head === undefined) throw new Error(`The run ${runId} was not written.`);
  if (record?.kind === 'start') {
    await followStart(account, key, { head, record }, false);
    return { messageId, runId, createdAt: head.createdAt, isDuplicate: false, isOther: false };
  }
  const first = result.same ?? (await loadStart(key, head.startSeq));
  const { createdAt } = first.head;
  const started = { runId, createdAt, isDuplicate: record === undefined, isOther: false };
  // What it began with was delivered long ago where its id has had another run since.
  if (first.head.startSeq !== head.startSeq) return { ...started, messageId: first.record.entry.messageId };
  const upgrade = draft.isUpgrade === true && isUpgraded(head) ? await loadUpgrade(key, head) : undefined;
  // Whoever wrote the record may have died before it went on.
  if (upgrade === undefined) await followStart(account, key, { head, record: first.record }, true);
  else {
    const run = { key, head, start: upgrade.start };
    await deliverEntries(run, account, [entryOfUpgrade(first.record.entry, upgrade)], record === undefined);
  }
  const isOther = draft.fixed !== undefined && result.same === undefined;
  return { ...started, messageId: (upgrade ?? first.record.entry).messageId, isOther };
}

/** The entry that delivers the payload again, after the endpoint of an unknown client has answered. */
const entryOfUpgrade = (entry: ListedEntry, { messageId, at }: UpgradeRecord): ListedEntry => ({
  ...entry,
  messageId,
  createdAt: at,
  notBefore: at,
});

const isUpgraded = ({ factsSeq, startSeq }: Head): boolean => factsSeq > startSeq;

/** The start of a run, as its journal has it. */
interface StartRow extends JournalRow {
  readonly record: StartRecord;
}

const isStartRow = (row: JournalRow | undefined): row is StartRow => row?.record.kind === 'start';

interface Verdict {
  /** The run that the same start has made before. */
  readonly same?: StartRow | undefined;
}

async function loadStart(key: RunKey, startSeq: number): Promise<StartRow> {
  const row = await loadRow(key, startSeq);
  if (!isStartRow(row)) throw new Error(`The start of the run ${key.runId} is not there.`);
  return row;
}

async function loadUpgrade(key: RunKey, { factsSeq }: Head): Promise<UpgradeRecord> {
  const record = await loadRecord(key, factsSeq);
  if (record?.kind !== 'upgrade') throw new Error(`The upgrade of the run ${key.runId} is not there.`);
  return record;
}

/** Finds the run that the same start has made: the newest of its id, or one before it. */
async function startedBefore(
  key: RunKey,
  { startSeq, createdAt }: Head,
  fixed: NonNullable<StartDraft['fixed']>,
): Promise<StartRow | undefined> {
  // A run's time is that of its start, or later.
  if (createdAt < fixed.createdAt) return undefined;
  const isIt = (row: StartRow): boolean => row.record.entry.messageId === fixed.messageId;
  const newest = await loadStart(key, startSeq);
  if (isIt(newest)) return newest;
  for await (const row of readJournal(key, 0)) if (isStartRow(row) && isIt(row)) return row;
  return undefined;
}
