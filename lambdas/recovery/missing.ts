/** Finds lost messages: those that have not ended, but for which no attempt is scheduled. */
import { setTimeout } from 'node:timers/promises';
import { attemptJob } from '../job/job.ts';
import { sendAll } from '../job/send.ts';
import { laneJobsOf, nameOf, readLanes } from '../lane/recover.ts';
import { loadMessage } from '../message/history.ts';
import { isOver } from '../message/message.ts';
import type { MessageKey } from '../message/rows.ts';
import { dueTimeOf, nextAttemptOf, type AttemptOutline } from '../message/status.ts';
import { unfinishedMessages, type Unfinished } from '../message/unfinished.ts';
import { now, secondMs } from '../shared/clock.ts';

/** An attempt in an SQS queue or in Scheduler. */
export interface KnownAttempt {
  readonly accountId: string;
  readonly messageId: string;
  readonly attempt: number;
}

/** Ids of lost messages. */
interface Lost {
  readonly accepted: readonly string[];
  /** The process ended before it answered the publisher, who sends the message again. */
  readonly unanswered: readonly string[];
}

/** A request is answered within this time. */
const longestRequestMs = 30 * secondMs;

const settleMs = 2 * secondMs;

type Known = Iterable<KnownAttempt> | AsyncIterable<KnownAttempt>;
type IsUnknown = (message: MessageKey, attempts: readonly AttemptOutline[]) => boolean;

/** Reads all waiting lines, and then the known attempts. */
async function unknownIn(known: Known, signal?: AbortSignal): Promise<IsUnknown> {
  const { waiting } = await laneJobsOf(await readLanes());
  const found = new Set(waiting);
  for await (const { accountId, ...entry } of known) {
    signal?.throwIfAborted();
    found.add(nameOf(accountId, entry));
  }
  return ({ accountId, messageId }, attempts) => {
    signal?.throwIfAborted();
    const last = Math.max(-1, ...attempts.map(({ number }) => number));
    // The next attempt may have no job until the job of the last one is done.
    const numbers = last < 0 ? [0] : [last, last + 1];
    return !numbers.some((attempt) => found.has(nameOf(accountId, { messageId, attempt })));
  };
}

async function* unknownMessages(known: Known, signal?: AbortSignal): AsyncGenerator<Unfinished> {
  const isUnknown = await unknownIn(known, signal);
  for await (const history of unfinishedMessages(Infinity, isUnknown)) {
    if (!isOver(history) && isUnknown(history.message, history.attempts)) yield history;
  }
}

/**
 * Finds lost messages. Nothing may be written at the same time.
 *
 * @param first when the first process since the last search ended at work; Infinity if none did
 * @param last when the last of them ended
 */
export async function lostMessages(known: Known, first = Infinity, last = first): Promise<Lost> {
  const lost: Record<keyof Lost, string[]> = { accepted: [], unanswered: [] };
  for await (const { message, attempts } of unknownMessages(known)) {
    const isOfTime =
      message.createdAt > first - longestRequestMs && message.createdAt < last + longestRequestMs;
    const isUnanswered = attempts.length === 0 && isOfTime;
    lost[isUnanswered ? 'unanswered' : 'accepted'].push(message.messageId);
  }
  return lost;
}

/**
 * Sends lost messages that may have been accepted, while other processes write: a message that is just moving
 * between two places may look lost once, but not twice. A callback is stored before its job, and left to its
 * attempt's job.
 *
 * @param createdBefore when a process ended
 * @throws the signal's reason once it is aborted
 */
export async function sendLost(
  known: () => Known,
  createdBefore: number,
  signal?: AbortSignal,
): Promise<void> {
  const suspects: Unfinished[] = [];
  for await (const suspect of unknownMessages(known(), signal)) {
    const { callbackOf, workflow, createdAt } = suspect.message;
    // The clock may have been set back since the message was created.
    const isEarlier = createdAt < createdBefore || createdAt > now();
    if (callbackOf === undefined && workflow === undefined && isEarlier) suspects.push(suspect);
  }
  if (suspects.length === 0) return;
  await setTimeout(settleMs);
  const isUnknown = await unknownIn(known(), signal);
  const lost: Unfinished[] = [];
  for (const { message, attempts } of suspects) {
    const history = await loadMessage(message);
    if (history === undefined || isOver(history) || history.attempts.length !== attempts.length) continue;
    if (isUnknown(history.message, history.attempts)) lost.push(history);
  }
  await sendAll(lost, (history) => {
    const number = nextAttemptOf(history);
    return { job: attemptJob(history.message, number), dueAt: dueTimeOf(history, number) };
  });
}
