/** When a dead letter queue is trimmed. */
import { secondMs } from '../../domain/clock.ts';
import type { DeadLetterQueueSize } from '../../stores/deadLetter/size.ts';

/**
 * The queue is trimmed once it is longer than its limit by a hundredth of it, so that many go together; 200 dead letters
 * too many are the most.
 */
const mostSlack = 200;
const slackOf = (size: number): number => Math.min(Math.floor(size / 100), mostSlack);

export const isTooLarge = ({ entries }: DeadLetterQueueSize, size: number): boolean =>
  entries > size + slackOf(size);

/** A process that began to trim so long ago has died: it stops after 10 s, and each of its calls ends after 13 s. */
export const trimmingStaleMs = 60 * secondMs;
