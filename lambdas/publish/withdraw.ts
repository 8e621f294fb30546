import { endPeriod } from '../debounce/closePeriod.ts';
import { now } from '../shared/clock.ts';
import type { Message, OpenAttempt } from '../message/message.ts';
import { count } from '../aws/metrics.ts';
import { dueTimeOf, nextAttemptOf } from '../message/status.ts';
import { endMessage } from '../message/messages.ts';
import type { LastAttempt } from '../message/rows.ts';
import { isFarFrom, withdrawFar, withdrawFarCompletion } from '../job/send.ts';
import { withdrawFromLanes } from '../lane/withdrawFromLanes.ts';

interface Withdrawn {
  readonly message: Message;
  /** By number. */
  readonly attempts: readonly LastAttempt[];
  readonly open: OpenAttempt | undefined;
}

/**
 * Ends a message, and removes its next attempt from Scheduler.
 *
 * @returns false if it had already ended
 */
export async function withdraw({ message, attempts, open }: Withdrawn): Promise<boolean> {
  // Before the message ends, so that later publishes make another message.
  if (message.debounce !== undefined && attempts.length === 0)
    await endPeriod(message.messageId, message.debounce);
  const isFirst = await endMessage(message, 'CANCELED', now());
  const last = attempts.at(-1);
  const attempt = nextAttemptOf({ attempts });
  const sentAt = last?.recordedAt ?? message.createdAt;
  const dueAt = dueTimeOf({ message, attempts }, attempt);
  if (!isFirst) return false;
  count('Cancelled');
  await withdrawFromLanes(message, last, open);
  if (open !== undefined) await withdrawFarCompletion(message.messageId, open.number);
  else if (isFarFrom(sentAt, dueAt)) await withdrawFar(message.messageId, attempt, message.change?.id);
  return true;
}
