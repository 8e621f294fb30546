/** The end of an invoked run is the result of a step of the run that invoked it. */
import { canonicalize } from '../../api/dialect.ts';
import type { Account } from '../../domain/account/account.ts';
import { now } from '../../domain/clock.ts';
import { scoped } from '../../domain/config.ts';
import type { Header } from '../../domain/headers.ts';
import { newId } from '../../domain/ids.ts';
import { invokeResult, type InvokeEnd, type Invoker } from '../../domain/workflow/invoking.ts';
import type {
  EndRecord,
  Head,
  JournalRecord,
  LateResultRecord,
  ListedEntry,
} from '../../domain/workflow/journal.ts';
import { hasEnded } from '../../domain/workflow/run.ts';
import { hasStep } from '../../domain/workflow/stepSet.ts';
import { settings } from '../../settings.ts';
import { loadBody } from '../../stores/message/bodies.ts';
import { loadHead, type RunKey } from '../../stores/workflow/journals.ts';
import { changeRun, type Decision } from './changeRun.ts';
import { keepEntryBodies, storeEntryBody } from './entryBodies.ts';
import { factsOf } from './facts.ts';
import { findRecord, followSteps } from './follow.ts';
import { keepRun, neededUntil, spareMs } from './keepRun.ts';
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
 * again without harm.
 */
export async function tellInvoker(account: Account, invoker: Invoker, end: EndRecord): Promise<void> {
  const key: RunKey = { accountId: account.id, runId: invoker.runId };
  const found = await loadHead(key);
  // Its id has another run now, or its records have expired.
  if (found?.createdAt !== invoker.createdAt) return;
  const start = await factsOf(key, found);
  const time = now();
  const messageId = newId('msg', time, account.shards);
  const { step } = invoker;
  const needed = neededUntil(account, start.settings, time);
  const body = invokeResult(step, await endOf(end));
  const bodyUntil = Math.max(found.keptUntil, needed + spareMs);
  const entry: ListedEntry = {
    messageId,
    url: invoker.url,
    createdAt: time,
    notBefore: time,
    body: await storeEntryBody({ accountId: account.id, messageId, expiresAt: bodyUntil }, body, time),
    bodyBytes: body.length,
    step: { kind: 'result', ...step },
    forwarded: forwardedBy(invoker.headers),
  };
  const { head, record } = await changeRun(key, (current) =>
    decide(key, current, invoker, { entry, needed, bodyUntil }),
  );
  if (head === undefined || record?.kind === 'lateResult' || hasEnded(head.state)) return;
  const run = { key, head, start };
  const isIt = isStepsOf({ kind: 'result', stepId: step.stepId });
  if (record?.kind === 'steps') await followSteps(account, run, record, false);
  else await followSteps(account, run, await findRecord(key, head, isIt), true);
}

async function decide(
  key: RunKey,
  head: Head | undefined,
  { createdAt, step }: Invoker,
  {
    entry,
    needed,
    bodyUntil,
  }: { readonly entry: ListedEntry; readonly needed: number; readonly bodyUntil: number },
): Promise<Decision<undefined>> {
  const isThere = head?.createdAt === createdAt;
  if (!isThere || hasStep(head.steps, 'result', step.stepId)) return { result: undefined };
  const late: LateResultRecord = { kind: 'lateResult', at: entry.createdAt, entry };
  if (hasEnded(head.state)) return { record: late, result: undefined };
  const keptUntil = await keepRun(key, head, needed);
  const entries = await keepEntryBodies(key.accountId, [entry], bodyUntil, keptUntil, now());
  const record: JournalRecord = { kind: 'steps', at: entry.createdAt, entries };
  return { record, keptUntil, result: undefined };
}
