import type { PublishOptions } from '../request/publishOptions.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { expiryOf, type Message } from '../message/message.ts';

/**
 * Makes a new message of one that was sent before, with another id. It holds no slot of a queue for another message, as the
 * callback that it may have been did.
 *
 * @param overrides the settings that change
 */
export function renewed(
  account: Account,
  message: Message,
  overrides: Partial<PublishOptions>,
  messageId: string,
): Message {
  const createdAt = now();
  const made = {
    ...message,
    createdAt,
    notBefore: createdAt,
    slotOf: undefined,
    ...overrides,
    messageId,
  };
  return { ...made, expiresAt: expiryOf(made, limitsOf(account).max_dlq_retention_time_milis) };
}
