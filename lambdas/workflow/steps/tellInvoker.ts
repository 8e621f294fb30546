import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { invokeResult, invokeResultBytes, type InvokeEnd, type Invoker } from '../rules/invoking.ts';
import {
  isActive,
  type EndRecord,
  type Snapshot,
  type ListedEntry,
  type RunStart,
  type RunKey,
} from '../rules/journal.ts';
import { capacityOf, sayNoCapacity, hasStep } from '../rules/placing.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadSnapshot } from '../store/journals.ts';
import { forwardedBy } from './bodyHeaders.ts';
import { withMemory } from '../delivery/memory.ts';
import {
  changeRun,
  type Decision,
  extendEntryBodies,
  storeEntry,
  settingsOfRun,
  extendRun,
  neededUntil,
  spareMs,
} from '../runs/changeRun.ts';
import { findResult, followSteps } from '../runs/follow.ts';

async function endOf({ state, response, responseId }: EndRecord): Promise<InvokeEnd> {
  if (state !== 'RUN_SUCCESS') return { state };
  if (response === undefined || responseId === undefined) return { state, response: undefined };
  return { state, response: Buffer.from(await loadBody(responseId, response)).toString('utf8') };
}

/**
 * Gives a run the result of the run that it waits for. If it has ended, the result only goes into its log.
 * Can be repeated. A result that does not fit into the run fails only the step, with an error that gives the
 * size and the limit.
 *
 * @throws NoMemory
 */
export async function tellInvoker(account: Account, invoker: Invoker, end: EndRecord): Promise<void> {
  await tell(account, invoker, () => endOf(end));
}

export async function tellFailure(account: Account, invoker: Invoker, reason: string): Promise<void> {
  const atStart = { ...invoker, url: '', headers: [] };
  await tell(account, atStart, () => Promise.resolve({ state: 'RUN_FAILED', reason }));
}

async function tell(account: Account, invoker: Invoker, load: () => Promise<InvokeEnd>): Promise<void> {
  const key: RunKey = { accountId: account.id, runId: invoker.runId };
  const found = await loadSnapshot(key);
  // The id has another run now, or the run's records have expired.
  if (found?.createdAt !== invoker.createdAt) return;
  const start = await settingsOfRun(key, found);
  const { step } = invoker;
  const end = await load();
  const bytes = invokeResultBytes(step, end);
  const { snapshot, record } = await withMemory(copiesOfResult * Math.min(bytes, capacityOf(found)), () =>
    changeRun(key, deciderOf(account, key, start, invoker, end, bytes)),
  );
  if (record?.kind === 'lateResult' || !isActive(snapshot)) return;
  const run = { key, snapshot, start };
  if (record?.kind === 'steps') await followSteps(account, run, record, false);
  else await followSteps(account, run, await findResult(key, snapshot, step.stepId), true);
}

/** The result is in memory as the text of `out`, as JSON, and as bytes. */
const copiesOfResult = 3;

/**
 * Makes the result when it is recorded, because only then it is known how much fits into the run. It is made
 * at most twice: as it is, and as a failure because it does not fit.
 */
function deciderOf(
  account: Account,
  key: RunKey,
  start: RunStart,
  { createdAt, step, url, headers }: Invoker,
  end: InvokeEnd,
  bytes: number,
): (snapshot: Snapshot | undefined) => Promise<Decision | undefined> {
  const time = now();
  const needed = neededUntil(account, start.settings, time);
  const made = new Map<'whole' | 'refused', { readonly entry: ListedEntry; readonly bodyUntil: number }>();
  const make = async (snapshot: Snapshot, shown: InvokeEnd) => {
    const bodyUntil = Math.max(snapshot.keptUntil, needed + spareMs);
    const fields = {
      url: url === '' ? start.url : url,
      step: { kind: 'result' as const, ...step },
      forwarded: forwardedBy(headers),
    };
    return {
      entry: await storeEntry(account, fields, invokeResult(step, shown), bodyUntil, time),
      bodyUntil,
    };
  };
  return async (snapshot) => {
    const isThere = snapshot?.createdAt === createdAt;
    if (!isThere || hasStep(snapshot.steps, 'result', step.stepId)) return undefined;
    const fits = bytes <= capacityOf(snapshot);
    const name = fits ? 'whole' : 'refused';
    const reason = sayNoCapacity('The result of the invoked run', bytes, snapshot);
    // A failure is recorded even if the list is full, because it is small and the run would wait forever
    // without it.
    const result = made.get(name) ?? (await make(snapshot, fits ? end : { state: 'RUN_FAILED', reason }));
    made.set(name, result);
    const { entry, bodyUntil } = result;
    if (!isActive(snapshot)) return { record: { kind: 'lateResult', at: entry.createdAt, entry } };
    const keptUntil = await extendRun(key, snapshot, needed);
    const entries = await extendEntryBodies(key.accountId, [entry], bodyUntil, keptUntil, now());
    return { record: { kind: 'steps', at: entry.createdAt, entries }, keptUntil };
  };
}
