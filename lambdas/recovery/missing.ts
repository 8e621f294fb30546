/** Finds lost messages: unfinished ones that will never be attempted. */
import { attemptJob } from '../job/job.ts';
import { laneJobsOf, nameOf, readLanes } from '../lane/recover.ts';
import { isOver } from '../message/message.ts';
import { unfinishedMessages } from '../message/unfinished.ts';

/** An attempt in an SQS queue or in Scheduler. */
export interface KnownAttempt {
  readonly accountId: string;
  readonly messageId: string;
  readonly attempt: number;
}

/**
 * Reads all messages, and the waiting lines of all lanes. Nothing may be written at the same time.
 *
 * @returns the ids of the lost messages
 */
export async function lostMessages(known: Iterable<KnownAttempt>): Promise<readonly string[]> {
  const { waiting } = await laneJobsOf(await readLanes());
  const found = new Set(waiting);
  for (const { accountId, ...entry } of known) found.add(nameOf(accountId, entry));
  const lost: string[] = [];
  for await (const history of unfinishedMessages()) {
    if (isOver(history)) continue;
    const { message, attempts } = history;
    const last = attempts.at(-1)?.number;
    // The next attempt may not exist until the job of the last one is done.
    const numbers = last === undefined ? [0] : [last, last + 1];
    const names = numbers.map((number) => nameOf(message.accountId, attemptJob(message, number)));
    if (!names.some((name) => found.has(name))) lost.push(message.messageId);
  }
  return lost;
}
