/** The end of an invoked run is the result of a step of the run that invoked it. */
import { canonicalize } from '../../request/dialect.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { scoped } from '../../shared/config.ts';
import type { Header } from '../../shared/headers.ts';
import { newId } from '../../shared/ids.ts';
import { invokeResult, invokeResultBytes, type InvokeEnd, type Invoker } from '../rules/invoking.ts';
import type {
  EndRecord,
  Snapshot,
  JournalRecord,
  LateResultRecord,
  ListedEntry,
  RunStart,
} from '../rules/journal.ts';
import { roomIn, sayNoRoom } from '../rules/placing.ts';
import { hasEnded } from '../run.ts';
import { hasStep } from '../rules/stepSet.ts';
import { settings } from '../../aws/settings.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadSnapshot, type RunKey } from '../store/journals.ts';
import { withMemory } from '../delivery/memory.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { keepEntryBodies, storeEntryBody } from '../runs/entryBodies.ts';
import { settingsOfRun } from '../runs/settings.ts';
import { findRecord, followSteps } from '../runs/follow.ts';
import { extendRun, neededUntil, spareMs } from '../runs/extendRun.ts';
import { isStepsOf } from './submit.ts';

/** The headers that a publish with these headers would forward. */
export const forwardedBy = (headers: readonly Header[]): readonly Header[] =>
  [...scoped(canonicalize(headers, [], settings.headerPrefixes).config, 'forward')].flatMap(
    ([name, values]) => values.map((value): Header => [name, value]),
  );

async function endOf({ state, response, responseId }: EndRecord): Promise<InvokeEnd> {
  if (state !== 'RUN_SUCCESS') return { state };
  if (response === undefined || responseId === undefined) return { state, response: undefined };
  return { state, response: Buffer.from(await loadBody(responseId, response)).toString('utf8') };
}

/**
 * Gives a run the result of the step that invoked another, unless it has it; one that has ended gets it for its log. To be done
 * again without harm. What the run has no room for fails the step, and not the run: it is told the size and the limit.
 *
 * @throws NoMemory
 */
export async function tellInvoker(account: Account, invoker: Invoker, end: EndRecord): Promise<void> {
  await tell(account, invoker, () => endOf(end));
}

/** Tells a run that the one it invoked has failed, at the URL that it was started with. To be done again without harm. */
export async function tellFailure(account: Account, invoker: Invoker, reason: string): Promise<void> {
  const atStart = { ...invoker, url: '', headers: [] };
  await tell(account, atStart, () => Promise.resolve({ state: 'RUN_FAILED', reason }));
}

async function tell(account: Account, invoker: Invoker, load: () => Promise<InvokeEnd>): Promise<void> {
  const key: RunKey = { accountId: account.id, runId: invoker.runId };
  const found = await loadSnapshot(key);
  // Its id has another run now, or its records have expired.
  if (found?.createdAt !== invoker.createdAt) return;
  const start = await settingsOfRun(key, found);
  const { step } = invoker;
  const end = await load();
  const bytes = invokeResultBytes(step, end);
  const { head, record } = await withMemory(copiesOfResult * Math.min(bytes, roomIn(found)), () => {
    const results = resultsOf(account, start, invoker, end, bytes);
    return changeRun(key, (current) => decide(key, current, invoker, results));
  });
  if (head === undefined || record?.kind === 'lateResult' || hasEnded(head.state)) return;
  const run = { key, head, start };
  const isIt = isStepsOf({ kind: 'result', stepId: step.stepId });
  if (record?.kind === 'steps') await followSteps(account, run, record, false);
  else await followSteps(account, run, await findRecord(key, head, isIt), true);
}

/** A result of {@link invokeResult} is in memory as the text of `out`, as JSON, and as bytes. */
const copiesOfResult = 3;

/** The result of an invoke, for whatever room its run turns out to have. */
interface Results {
  readonly needed: number;
  /** Makes and stores it, once. */
  readonly entryFor: (head: Snapshot) => Promise<{ readonly entry: ListedEntry; readonly bodyUntil: number }>;
}

function resultsOf(
  account: Account,
  start: RunStart,
  { step, url, headers }: Invoker,
  end: InvokeEnd,
  bytes: number,
): Results {
  const time = now();
  const needed = neededUntil(account, start.settings, time);
  const made = new Map<'whole' | 'refused', { readonly entry: ListedEntry; readonly bodyUntil: number }>();
  const make = async (head: Snapshot, shown: InvokeEnd) => {
    const messageId = newId('msg', time, account.shards);
    const bodyUntil = Math.max(head.keptUntil, needed + spareMs);
    const body = invokeResult(step, shown);
    const of = { accountId: account.id, messageId, expiresAt: bodyUntil };
    const entry: ListedEntry = {
      messageId,
      url: url === '' ? start.url : url,
      createdAt: time,
      notBefore: time,
      body: await storeEntryBody(of, body, time),
      bodyBytes: body.length,
      step: { kind: 'result', ...step },
      forwarded: forwardedBy(headers),
    };
    return { entry, bodyUntil };
  };
  return {
    needed,
    entryFor: async (head) => {
      const fits = bytes <= roomIn(head);
      const name = fits ? 'whole' : 'refused';
      const reason = sayNoRoom('The result of the invoked run', bytes, head);
      // What is told then is small: it is recorded however long the list is, for the run would wait for ever.
      const entry = made.get(name) ?? (await make(head, fits ? end : { state: 'RUN_FAILED', reason }));
      made.set(name, entry);
      return entry;
    },
  };
}

async function decide(
  key: RunKey,
  head: Snapshot | undefined,
  { createdAt, step }: Invoker,
  { needed, entryFor }: Results,
): Promise<Decision<undefined>> {
  const isThere = head?.createdAt === createdAt;
  if (!isThere || hasStep(head.steps, 'result', step.stepId)) return { result: undefined };
  const { entry, bodyUntil } = await entryFor(head);
  const late: LateResultRecord = { kind: 'lateResult', at: entry.createdAt, entry };
  if (hasEnded(head.state)) return { record: late, result: undefined };
  const keptUntil = await extendRun(key, head, needed);
  const entries = await keepEntryBodies(key.accountId, [entry], bodyUntil, keptUntil, now());
  const record: JournalRecord = { kind: 'steps', at: entry.createdAt, entries };
  return { record, keptUntil, result: undefined };
}
