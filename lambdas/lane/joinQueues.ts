import { now } from '../shared/clock.ts';
import { joinLine, placeOf } from './rules/arrival.ts';
import { asQueue, queueLane } from './lane.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import type { Message } from '../message/message.ts';
import { attemptJob } from '../job/job.ts';
import { lanes } from './slots/processLanes.ts';
import { queueEntry } from './rules/entry.ts';

/** Whether a message joins its queue's line when it is published. A delayed message joins when it is due. */
export const joinsAtOnce = ({ queueName, notBefore }: Message): boolean =>
  queueName !== undefined && notBefore <= now();

/** Messages that join in one write; see `mostAtOnce` in `slots/changeLanes.ts`. */
const joinedTogether = 100;
/**
 * Messages that join in one write if some have a fair key or a priority; see `mostAsked` in
 * `slots/lineRows.ts`.
 */
const turnsTogether = 20;
const queuesAtOnce = 20;

/**
 * Adds stored messages to the lines of their queues. Creates missing queues.
 *
 * @returns the messages that may not have joined, each with its error
 */
export async function joinQueues(messages: readonly Message[]): Promise<ReadonlyMap<Message, unknown>> {
  const failures = new Map<Message, unknown>();
  const byQueue = new Map<string, Message[]>();
  for (const message of messages) {
    const name = message.queueName ?? '';
    byQueue.set(name, [...(byQueue.get(name) ?? []), message]);
  }
  await eachOf([...byQueue], queuesAtOnce, async ([name, all]) => {
    // One after another, to keep the messages' order.
    const together = all.some((message) => placeOf(message)) ? turnsTogether : joinedTogether;
    for (const some of chunksOf(all, together)) {
      try {
        await join(name, some);
      } catch (error) {
        for (const message of some) failures.set(message, error);
      }
    }
  });
  return failures;
}

export const joinQueue = (message: Message): Promise<void> => join(message.queueName ?? '', [message]);

async function join(name: string, messages: readonly Message[]): Promise<void> {
  const [first] = messages;
  if (first === undefined) return;
  await lanes.change(queueLane(first.accountId, name), (lane, time) => ({
    lane: messages.reduce(
      (joined, message) => joinLine(joined, queueEntry(attemptJob(message, 0)), message),
      asQueue(lane, time),
    ),
    result: undefined,
  }));
}
