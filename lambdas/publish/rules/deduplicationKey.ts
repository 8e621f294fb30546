import type { Header } from '../../shared/headers.ts';
import { createHash } from 'node:crypto';
import { minuteMs } from '../../shared/clock.ts';
import { isTraceHeader } from '../../request/forwarding.ts';
import type { Deduplication } from '../../options/deduplication.ts';

/** How long later messages count as duplicates. */
export const deduplicationWindowMs = 10 * minuteMs;

/**
 * Makes the key that equal messages share. With an id, it is made of the account and the id. By content, it
 * is made of the account, destination, body, content type and forwarded headers, except trace headers, which
 * always differ. Each endpoint of a URL group has a different key.
 */
export function deduplicationKey(
  deduplication: Deduplication,
  message: {
    readonly accountId: string;
    readonly url: string;
    readonly topicName?: string | undefined;
    readonly headers: readonly Header[];
  },
  body: Uint8Array,
): string {
  const { accountId, url, topicName, headers } = message;
  const byName = (one: Header, other: Header): number => (one.join() < other.join() ? -1 : 1);
  const parts =
    deduplication.by === 'id'
      ? ['id', deduplication.id, topicName === undefined ? '' : url]
      : [
          deduplication.token ?? 'content',
          url,
          headers.filter((header) => !isTraceHeader(header)).sort(byName),
          createHash('sha256').update(body).digest('hex'),
        ];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return `${accountId}#${hash}`;
}
