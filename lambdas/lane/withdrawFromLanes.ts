import { clockMarginMs, now } from '../shared/clock.ts';
import { keyLane, queueLane } from './lane.ts';
import { endOfAttempt, formatEntry, queueEntry } from './rules/entry.ts';
import { leave } from './rules/leaving.ts';
import { withdraw, withdrawWaiting } from './rules/cancelling.ts';
import type { Message, OpenAttempt } from '../message/message.ts';
import { attemptJob } from '../job/job.ts';
import { dueTimeOf, nextAttemptOf } from '../message/status.ts';
import type { LastAttempt } from '../message/rows.ts';
import { lanes } from './slots/processLanes.ts';
import { leaveAsCallback } from './queueSlot.ts';

/**
 * Takes a message that has ended out of its lanes.
 *
 * @param last its last attempt; undefined before the first
 * @param open the next attempt, if it is open but no request is in flight
 */
export async function withdrawFromLanes(
  message: Message,
  last: LastAttempt | undefined,
  open: OpenAttempt | undefined,
): Promise<void> {
  const { accountId, queueName, flowControl, timeoutMs } = message;
  const attempts = last === undefined ? [] : [last];
  const attempt = attemptJob(message, nextAttemptOf({ attempts }));
  const dueAt = dueTimeOf({ message, attempts }, attempt.attempt);
  const isDue = now() >= dueAt - clockMarginMs;
  const changes = [leaveAsCallback(message)];
  // A delayed message enters its queue when it is due.
  const isInQueue = last !== undefined || now() >= dueAt;
  if (queueName !== undefined && isInQueue) {
    // An attempt in flight keeps its slot until it ends.
    const until = isDue && open === undefined ? endOfAttempt(timeoutMs, now()) : undefined;
    changes.push(
      lanes.update(queueLane(accountId, queueName), (lane) =>
        withdraw(lane, queueEntry(attempt), until, message),
      ),
    );
  }
  if (flowControl !== undefined && now() >= dueAt) {
    changes.push(
      lanes.update(keyLane(accountId, flowControl.key), (lane) =>
        open === undefined
          ? withdrawWaiting(lane, formatEntry(attempt), message)
          : leave(lane, formatEntry(attempt)),
      ),
    );
  }
  await Promise.all(changes);
}
