import { createHash } from 'node:crypto';
import { minuteMs } from './clock.ts';
import type { Header } from './dialect.ts';
import type { Message } from './message.ts';
import type { Deduplication } from './options.ts';

/** How long a message stands in the way of others that are the same. */
export const deduplicationWindowMs = 10 * minuteMs;

/**
 * What two messages have in common that are the same: the account and the id that their publisher gave them, or their
 * destination, body, content type and forwarded headers. A URL group's messages are told apart by their endpoints.
 */
export function deduplicationKey(
  deduplication: Deduplication,
  message: Pick<Message, 'accountId' | 'url' | 'topicName' | 'headers'>,
  body: Uint8Array,
): string {
  const { accountId, url, topicName, headers } = message;
  const byName = (one: Header, other: Header): number => (one.join() < other.join() ? -1 : 1);
  const facts =
    deduplication.by === 'id'
      ? ['id', deduplication.id, topicName === undefined ? '' : url]
      : ['content', url, [...headers].sort(byName), createHash('sha256').update(body).digest('hex')];
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
  return `${accountId}#${hash}`;
}
