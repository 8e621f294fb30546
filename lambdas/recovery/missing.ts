/** Finds lost messages: unfinished ones that will never be attempted. */
import { setTimeout } from 'node:timers/promises';
import { attemptJob } from '../job/job.ts';
import { sendAll } from '../job/send.ts';
import { laneJobsOf, nameOf, readLanes } from '../lane/recover.ts';
import { isOver } from '../message/message.ts';
import type { MessageKey } from '../message/rows.ts';
import { dueTimeOf, nextAttemptOf, type AttemptOutline } from '../message/status.ts';
import { unfinishedMessages, type Unfinished } from '../message/unfinished.ts';
import { secondMs } from '../shared/clock.ts';

/** An attempt in an SQS queue or in Scheduler. */
export interface KnownAttempt {
  readonly accountId: string;
  readonly messageId: string;
  readonly attempt: number;
}

/** Ids of messages that nothing will attempt. */
interface Lost {
  readonly accepted: readonly string[];
  /** Their process ended while it accepted them. Their publishers have no answer, and send them again. */
  readonly unanswered: readonly string[];
}

/** A request is answered within this time. */
const longestRequestMs = 30 * secondMs;

const settleMs = 2 * secondMs;

/** Reads all messages, and the waiting lines of all lanes. Nothing may be written at the same time. */
async function* unknownMessages(known: Iterable<KnownAttempt>): AsyncGenerator<Unfinished> {
  const { waiting } = await laneJobsOf(await readLanes());
  const found = new Set(waiting);
  for (const { accountId, ...entry } of known) found.add(nameOf(accountId, entry));
  const isUnknown = (message: MessageKey, attempts: readonly AttemptOutline[]): boolean => {
    const last = Math.max(-1, ...attempts.map(({ number }) => number));
    // The next attempt may not exist until the job of the last one is done.
    const numbers = last < 0 ? [0] : [last, last + 1];
    return !numbers.some((attempt) =>
      found.has(nameOf(message.accountId, { messageId: message.messageId, attempt })),
    );
  };
  for await (const history of unfinishedMessages(Infinity, isUnknown)) {
    if (!isOver(history) && isUnknown(history.message, history.attempts)) yield history;
  }
}

/**
 * Finds such messages.
 *
 * @param first when a process first ended at work since the last search, if one did, Unix milliseconds
 */
export async function lostMessages(
  known: Iterable<KnownAttempt>,
  first = Infinity,
  last = first,
): Promise<Lost> {
  const lost: Record<keyof Lost, string[]> = { accepted: [], unanswered: [] };
  for await (const { message, attempts } of unknownMessages(known)) {
    const isOfTime =
      message.createdAt > first - longestRequestMs && message.createdAt < last + longestRequestMs;
    const isUnanswered = attempts.length === 0 && isOfTime;
    lost[isUnanswered ? 'unanswered' : 'accepted'].push(message.messageId);
  }
  return lost;
}

/** Sends such messages, which may have been accepted. A callback is stored before its job, and left to its attempt's job. */
export async function sendLost(known: Iterable<KnownAttempt>): Promise<void> {
  await sendAgain(await lostOf(known));
}

async function lostOf(known: Iterable<KnownAttempt>): Promise<Unfinished[]> {
  const lost: Unfinished[] = [];
  for await (const history of unknownMessages(known)) {
    const { callbackOf, workflow } = history.message;
    if (callbackOf === undefined && workflow === undefined) lost.push(history);
  }
  return lost;
}

async function sendAgain(lost: readonly Unfinished[]): Promise<void> {
  await sendAll(lost, (history) => {
    const number = nextAttemptOf(history);
    return { job: attemptJob(history.message, number), dueAt: dueTimeOf(history, number) };
  });
}

/**
 * Does so while others write. A message between two places may look lost, but not twice.
 *
 * @param createdBefore when a process ended, Unix milliseconds
 */
export async function sendLostAtWork(
  known: () => Iterable<KnownAttempt>,
  createdBefore: number,
): Promise<void> {
  const suspects = new Map<string, number>();
  for (const { message, attempts } of await lostOf(known())) {
    if (message.createdAt < createdBefore) suspects.set(message.messageId, attempts.length);
  }
  if (suspects.size === 0) return;
  await setTimeout(settleMs);
  const lost = await lostOf(known());
  await sendAgain(
    lost.filter(({ message, attempts }) => suspects.get(message.messageId) === attempts.length),
  );
}
