/** Starts runs: for a client, for a request without one, for an invoker, or for an endpoint that has identified its client. */
import { limitsOf, type Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { derivedId, newId } from '../../shared/ids.ts';
import { forbidden, quote } from '../../error/httpError.ts';
import { eachOf } from '../../shared/lists.ts';
import type { Invoker } from '../rules/invoking.ts';
import type { Snapshot, RunStart, RunKey } from '../rules/journal.ts';
import { endedRun } from '../rules/refusals.ts';
import { defaultRunRetries, hasEnded } from '../run.ts';
import type { StartMessage } from '../rules/workflowMessage.ts';
import { inherited } from '../../options/options.ts';
import { readJournal } from '../store/journals.ts';
import {
  changeRun,
  type Decision,
  neededUntil,
  spareMs,
  storeEntry,
  settingsOfRun,
} from '../runs/changeRun.ts';
import { followStart, deliverEntries, sendStartChecks } from '../runs/follow.ts';
import { failureCallbackIn } from './namedFailureCallback.ts';
import type { PreparedPart } from './prepare.ts';
import {
  entryOfUpgrade,
  isStartRow,
  isUpgraded,
  loadStart,
  loadUpgrade,
  type StartRow,
} from '../runs/loadRun.ts';

export interface Started {
  readonly messageId: string;
  readonly runId: string;
  readonly createdAt: number;
  readonly isDuplicate: boolean;
  /** Whether the active run was made by another start; always false for a draft without `fixed`. */
  readonly isOther: boolean;
}

export interface StartDraft {
  readonly runId: string;
  readonly start: RunStart;
  readonly payload: Uint8Array;
  /** The earliest time of its first delivery. */
  readonly notBefore: number;
  readonly isUpgrade?: boolean;
  /**
   * The id of the first message, which identifies the start, and the start's time. Set if another process may
   * try the same start again.
   */
  readonly fixed?: { readonly messageId: string; readonly createdAt: number } | undefined;
}

export function startOf(
  account: Account,
  { message, options, url, request }: PreparedPart<StartMessage>,
  invoker?: Invoker,
): RunStart {
  const { maxRetries, timeoutMs, deferredMs, headers } = options;
  const retries = request.config.has('retries')
    ? maxRetries
    : defaultRunRetries(limitsOf(account).max_retries);
  return {
    url,
    prefix: request.prefix,
    features: [...message.features],
    sdkVersion: message.sdkVersion,
    isUnknownClient: message.isUnknownClient,
    isWithoutClient: message.isWithoutClient,
    forwarded: headers,
    settings: {
      ...inherited(options),
      maxRetries: retries,
      timeoutMs,
      deferredMs,
    },
    invokeDepth: message.invokeDepth,
    callerIp: request.callerIp,
    failureCallback: failureCallbackIn(request.config, options, { ...options, maxRetries: retries }),
    invoker,
    scheduleId: request.fire?.scheduleId,
    token: account.scope?.token,
  };
}

export function draftOf(account: Account, part: PreparedPart<StartMessage>): StartDraft {
  const { message, request, options } = part;
  const { fire } = request;
  return {
    runId: message.runId ?? idFor(request),
    start: startOf(account, part),
    payload: request.body,
    notBefore: options.notBefore,
    isUpgrade: message.isUpgrade,
    fixed: fire && {
      messageId: derivedId('msg', fire.time, JSON.stringify([fire, request.destination])),
      createdAt: fire.time,
    },
  };
}

const idFor = ({ fire, destination }: PreparedPart['request']): string =>
  fire === undefined
    ? newId('wfr', now())
    : derivedId('wfr', fire.time, JSON.stringify([fire, destination, 'run']));

const upgraded = (before: RunStart, { features, forwarded, sdkVersion }: RunStart): RunStart => ({
  ...before,
  features,
  forwarded,
  sdkVersion,
  isUnknownClient: false,
});

const atOnce = 20;

/**
 * Starts runs, each unless its id has an active run. The process that wrote the active run also delivers it.
 * If that process dies, a job does it, which was sent before.
 *
 * @returns the runs, in the order of the drafts
 * @throws RunBusy, and errors of AWS; the starts must then be sent again
 */
export async function startRuns(
  account: Account,
  drafts: readonly StartDraft[],
): Promise<readonly Started[]> {
  const named = drafts.map((draft): NamedStart => {
    const at = draft.fixed?.createdAt ?? now();
    return { ...draft, at, messageId: draft.fixed?.messageId ?? newId('msg', at, account.shards) };
  });
  await sendStartChecks(named.map(({ runId, messageId }) => ({ accountId: account.id, runId, messageId })));
  const started: Started[] = [];
  await eachOf(named, atOnce, async (one, index) => {
    started[index] = await recordStart(account, one);
  });
  return started;
}

export async function startRun(account: Account, draft: StartDraft): Promise<Started> {
  const [started] = await startRuns(account, [draft]);
  if (started === undefined) throw new Error(`The run ${draft.runId} was not started.`);
  return started;
}

interface NamedStart extends StartDraft {
  /** The message that delivers the payload. */
  readonly messageId: string;
  readonly at: number;
}

async function recordStart(account: Account, draft: NamedStart): Promise<Started> {
  const { runId, payload, start, messageId, at: time, notBefore } = draft;
  const key: RunKey = { accountId: account.id, runId };
  const keptUntil = neededUntil(account, start.settings, notBefore) + spareMs;
  const entry = await storeEntry(account, { messageId, url: start.url, notBefore }, payload, keptUntil, time);

  const {
    record,
    snapshot,
    result: same,
  } = await changeRun(key, async (found): Promise<Decision<StartRow> | undefined> => {
    const before = found && draft.fixed && (await startedBefore(key, found, draft.fixed));
    if (before !== undefined) return { result: before };
    if (found !== undefined) await refuseOther(account, key, found, draft);
    if (found === undefined || hasEnded(found.state)) {
      // An upgrade of a run that has ended does not start another run.
      if (draft.isUpgrade === true) throw endedRun(runId);
      // Runs of one id are distinguished by their start times.
      const at = Math.max(time, (found?.createdAt ?? 0) + 1);
      return { record: { kind: 'start', at, start, entry }, keptUntil };
    }
    if (draft.isUpgrade !== true || found.entries > 1 || isUpgraded(found)) return undefined;
    const current = await settingsOfRun(key, found);
    return { record: { kind: 'upgrade', at: time, start: upgraded(current, start), messageId } };
  });
  if (snapshot === undefined) throw new Error(`The run ${runId} was not written.`);
  if (record?.kind === 'start') {
    await followStart(account, key, { snapshot, record }, false);
    return { messageId, runId, createdAt: snapshot.createdAt, isDuplicate: false, isOther: false };
  }
  const first = same ?? (await loadStart(key, snapshot.startSeq));
  const { entry: initial } = first.record;
  const started = {
    runId,
    createdAt: first.snapshot.createdAt,
    messageId: initial.messageId,
    isOther: false,
  };
  if (record?.kind === 'upgrade') {
    const run = { key, snapshot, start: record.start };
    await deliverEntries(run, account, [entryOfUpgrade(initial, record)], false);
    return { ...started, messageId, isDuplicate: false };
  }
  // The id has another run now.
  if (first.snapshot.startSeq !== snapshot.startSeq) return { ...started, isDuplicate: true };
  const upgrade =
    draft.isUpgrade === true && isUpgraded(snapshot) ? await loadUpgrade(key, snapshot) : undefined;
  const isOther = draft.fixed !== undefined && same === undefined;
  return { ...started, messageId: upgrade?.messageId ?? initial.messageId, isDuplicate: true, isOther };
}

/** @throws HttpError 403 if the id's run is outside the token's scope, or a restricted token started it */
async function refuseOther({ scope }: Account, key: RunKey, found: Snapshot, { isUpgrade }: StartDraft) {
  // The run's records may have expired, so it is not known who started it.
  if (hasEnded(found.state) && (scope === undefined || found.keptUntil < now())) return;
  const { url, token } = await settingsOfRun(key, found);
  scope?.refuse("The run's endpoint", url);
  if (hasEnded(found.state) || isUpgrade === true || token === undefined || token === scope?.token) return;
  throw forbidden(
    'token_scope_exceeded',
    `The run ${quote(key.runId)} is active, and was started by the token ${token}, whose ids are its own; another id is needed, or that run is cancelled first.`,
  );
}

/** Finds the run that this start made before: the newest run of the id, or an earlier one. */
async function startedBefore(
  key: RunKey,
  { startSeq, createdAt }: Snapshot,
  fixed: NonNullable<StartDraft['fixed']>,
): Promise<StartRow | undefined> {
  // A run's time is the time of its start, or later, so earlier records cannot be of this start.
  if (createdAt < fixed.createdAt) return undefined;
  const isIt = (row: StartRow): boolean => row.record.entry.messageId === fixed.messageId;
  const newest = await loadStart(key, startSeq);
  if (isIt(newest)) return newest;
  for await (const row of readJournal(key, 0)) if (isStartRow(row) && isIt(row)) return row;
  return undefined;
}
