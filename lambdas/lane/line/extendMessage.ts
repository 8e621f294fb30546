import { limitsOf, type Account } from '../../account/account.ts';
import { dayMs, now } from '../../shared/clock.ts';
import { expiryOf } from '../../message/message.ts';
import { extendBody } from '../../message/bodies.ts';
import type { MessageHistory } from '../../message/history.ts';
import { extendMessageRow } from '../../message/messages.ts';
import { kindOf } from '../../message/kinds.ts';

/** A message may start with this much less than the lifetime that it was given for all its retries and its dead letter. */
const missingMs = dayMs;
/** A message that is extended need not be extended again for this long. */
const addedLifetimeMs = 30 * dayMs;

/**
 * Extends the lifetime of a message that waits, so that it does not expire before its retries, its dead letter and its log
 * entries do.
 *
 * @param startsAt when it may start at the latest, unless it is extended again before. Unix milliseconds
 */
export async function extendMessage(
  { message, body }: MessageHistory,
  account: Account,
  startsAt: number,
): Promise<void> {
  // Counted from the account and the clock: counted from the row, its lifetime would grow each time.
  const expiryAfter = (notBefore: number): number => expiryOf({ ...message, notBefore }, limitsOf(account));
  if (message.expiresAt >= expiryAfter(startsAt) - missingMs) return;
  const expiresAt = expiryAfter(startsAt + addedLifetimeMs);
  const own = await kindOf(message);
  await own?.kind.extend(message, own.part, expiresAt);
  const extended = { ...message, expiresAt };
  await extendMessageRow(extended, await extendBody(extended, body, now()));
}
