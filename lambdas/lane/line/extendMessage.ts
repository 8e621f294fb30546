import { limitsOf, type Account } from '../../account/account.ts';
import { dayMs, now } from '../../shared/clock.ts';
import { expiryOf } from '../../message/message.ts';
import { extendBody } from '../../message/bodies.ts';
import type { MessageHistory } from '../../message/history.ts';
import { extendMessageRow } from '../../message/messages.ts';
import { kindOf } from '../../message/kinds.ts';

/**
 * A message's lifetime is extended once waiting has used up this much of it. The rest must cover its retries
 * and dead letter.
 */
const missingMs = dayMs;
const addedLifetimeMs = 30 * dayMs;

/**
 * Leaves time for a waiting message's retries, dead letter and log entries.
 *
 * @param startsAt the latest possible start before the next extension
 */
export async function extendMessage(
  { message, body }: MessageHistory,
  account: Account,
  startsAt: number,
): Promise<void> {
  // Calculated from now, not from the stored expiry, which would grow with each call.
  const expiryAfter = (notBefore: number): number => expiryOf({ ...message, notBefore }, limitsOf(account));
  if (message.expiresAt >= expiryAfter(startsAt) - missingMs) return;
  const expiresAt = expiryAfter(startsAt + addedLifetimeMs);
  const own = await kindOf(message);
  await own?.kind.extend(message, own.part, expiresAt);
  const extended = { ...message, expiresAt };
  await extendMessageRow(extended, await extendBody(extended, body, now()));
}
