/**
 * Work of runs that the service fails with again and again, or that kills its workers. Somebody waits for it, so it is not dropped:
 * the run that would wait for ever fails, where its account sees it, or a run that waits for another is told of a failure.
 */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { derivedId } from '../../shared/ids.ts';
import { isFault } from '../../job/fault.ts';
import { mostFaults, type GiveUpReason } from '../../job/redelivery.ts';
import { attemptJob, type RunEndJob, type RunStartJob, type WaitTimeoutJob } from '../../job/job.ts';
import type { Invoker } from '../rules/invoking.ts';
import { isWaiting } from '../rules/events.ts';
import type { Snapshot, RunStart } from '../rules/journal.ts';
import { hasEnded } from '../run.ts';
import { log } from '../../aws/log.ts';
import { chosenRun } from '../store/deadRuns.ts';
import { loadMessage } from '../../message/history.ts';
import { storedMessages } from '../../message/list.ts';
import { putMessage } from '../../message/messages.ts';
import { loadSnapshot, type RunKey } from '../store/journals.ts';
import { giveUpAttempt } from '../../delivery/giveUp.ts';
import { ownerOf } from '../../account/owner.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { endOfRun } from '../steps/endRun.ts';
import { loadWait } from '../waits/endWait.ts';
import { settingsOfRun } from '../runs/settings.ts';
import { begunWith } from '../steps/checkStart.ts';
import { recordOfEnd } from '../waits/checkWait.ts';
import { listMessage, emptyBody } from '../runs/runMessages.ts';
import { tellFailure } from '../steps/tellInvoker.ts';

const causes: Readonly<Record<GiveUpReason, string>> = {
  deaths: 'Each worker died that was to see to',
  faults: `The service itself failed ${mostFaults} times with`,
};

/** The sentence that tells of work that is given up. */
const sayGivenUp = (why: GiveUpReason, what: string): string =>
  `${causes[why]} ${what}; the log of the delivery workers has the errors.`;

const errorField = (error: unknown): { readonly error: Error | string } => ({
  error: error instanceof Error ? error : String(error),
});

/**
 * Fails a run that cannot go on, unless it has ended: with a dead letter, and its failure function is called. To be done again
 * without harm.
 *
 * It fails as any run does, by a delivery that has failed for good: one that is made for this alone, and never sent.
 *
 * @param what the work that is given up, as the error names it
 * @throws when that has to be done again
 */
export async function failGivenUp(
  key: RunKey,
  startSeq: number,
  why: GiveUpReason,
  what: string,
): Promise<void> {
  const head = await loadSnapshot(key);
  if (head?.startSeq !== startSeq || hasEnded(head.state)) return;
  const { accountId, runId } = key;
  const account = await ownerOf({ accountId, messageId: runId });
  if (account === undefined) return;
  const error = sayGivenUp(why, what);
  log.error('A run fails, because work of it is given up', { runId, reason: error });
  let start: RunStart;
  try {
    start = await settingsOfRun(key, head);
  } catch (unreadable) {
    if (!isFault(unreadable)) throw unreadable;
    await endUnreadable(key, startSeq, unreadable);
    return;
  }
  const messageId = derivedId(
    'msg',
    head.createdAt,
    JSON.stringify([accountId, runId, startSeq, 'given up']),
  );
  const time = now();
  const made = listMessage({ key, head, start }, account, {
    messageId,
    url: start.url,
    createdAt: time,
    notBefore: time,
  });
  // It takes no place in a lane.
  const message = { ...made, flowControl: undefined };
  if ((await loadMessage(message)) === undefined) await putMessage(message, emptyBody);
  await giveUpAttempt(attemptJob(message, 0), why, error);
}

/** Ends a run whose own facts cannot be read: nobody can be told, but what is submitted to it is refused from now on. */
async function endUnreadable(key: RunKey, startSeq: number, unreadable: unknown): Promise<void> {
  await changeRun(key, (head): Decision<undefined> => {
    if (head?.startSeq !== startSeq || hasEnded(head.state)) return { result: undefined };
    return { record: { kind: 'end', at: now(), state: 'RUN_FAILED' }, result: undefined };
  });
  log.error('A run has ended whose facts cannot be read', { runId: key.runId, ...errorField(unreadable) });
}

/**
 * Gives up a look at a start: its run fails where it was not delivered, since it would be shown as one that goes on, and never would.
 *
 * @throws when that has to be done again
 */
export async function giveUpStart(work: RunStartJob, why: GiveUpReason): Promise<void> {
  const { accountId, runId } = work;
  const key: RunKey = { accountId, runId };
  const head = await loadSnapshot(key);
  if (head === undefined || hasEnded(head.state) || !(await isUnfinished(work))) return;
  await failGivenUp(key, head.startSeq, why, 'the start of the run');
}

/** Tells whether the run that a start made was not delivered, as far as it can be read. */
async function isUnfinished(work: RunStartJob): Promise<boolean> {
  try {
    if (work.dlqId !== undefined) return (await chosenRun(work.accountId, work.dlqId)) === work.runId;
    return (await storedMessages([work])).size === 0 && (await begunWith(work)) !== undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    return true;
  }
}

/**
 * Gives up what follows the end of a run: the run that waits for it is told of a failure; and where that fails too, it fails.
 *
 * @throws when that has to be done again
 */
export async function giveUpRunEnd(
  account: Account,
  { runId, startSeq }: Pick<RunEndJob, 'runId' | 'startSeq'>,
  why: GiveUpReason,
): Promise<void> {
  const key: RunKey = { accountId: account.id, runId };
  const end = await endOfRun(key, startSeq);
  const invoker = end && (await settingsOfRun(key, end.head)).invoker;
  if (invoker === undefined) return;
  const what = `the end of the invoked run ${runId}`;
  try {
    await tellFailure(account, invoker, sayGivenUp(why, what));
  } catch (error) {
    if (!isFault(error)) throw error;
    log.error('A run cannot be told of the end of another', { runId: invoker.runId, ...errorField(error) });
    await failInvoker(account, invoker, why, what);
  }
}

async function failInvoker(
  account: Account,
  { runId, createdAt }: Invoker,
  why: GiveUpReason,
  what: string,
): Promise<void> {
  const key: RunKey = { accountId: account.id, runId };
  const head = await loadSnapshot(key);
  if (head?.createdAt === createdAt) await failGivenUp(key, head.startSeq, why, what);
}

/**
 * Gives up a look at a wait: its run fails where it would wait for ever.
 *
 * @throws when that has to be done again
 */
export async function giveUpWait(
  { accountId, runId, seq }: WaitTimeoutJob,
  why: GiveUpReason,
): Promise<void> {
  const key: RunKey = { accountId, runId };
  const head = await loadSnapshot(key);
  if (head === undefined || hasEnded(head.state) || seq < head.startSeq) return;
  if (await isStuck(key, head, seq)) await failGivenUp(key, head.startSeq, why, `the wait ${seq} of the run`);
  else log.error('A look at a wait is given up; its run goes on without it', { runId, seq });
}

/** Tells whether nothing else leads a run on from a wait: it is due, or it has ended and its result was never sent. */
async function isStuck(key: RunKey, head: Snapshot, seq: number): Promise<boolean> {
  try {
    const wait = await loadWait(key, seq);
    // Before its deadline other work is on its way, which ends it.
    if (isWaiting(head, seq)) return now() >= wait.deadline;
    const { entries } = await recordOfEnd(key, head, wait);
    const results = entries.filter(({ step }) => step?.stepId === wait.step.stepId);
    const sent = await storedMessages(
      results.map(({ messageId }) => ({ accountId: key.accountId, messageId })),
    );
    return results.some(({ messageId }) => !sent.has(messageId));
  } catch (error) {
    if (!isFault(error)) throw error;
    return true;
  }
}
