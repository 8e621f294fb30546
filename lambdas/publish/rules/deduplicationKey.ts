import type { Header } from '../../shared/headers.ts';
import { createHash } from 'node:crypto';
import { minuteMs } from '../../shared/clock.ts';
import { isTraceHeader } from '../../request/forwarding.ts';
import type { Deduplication } from '../../options/deduplication.ts';

/** How long later messages count as duplicates. */
export const deduplicationWindowMs = 10 * minuteMs;

/**
 * Makes the key of equal messages. With an id: from account and id. By content: from account, destination, body, content type
 * and forwarded headers, except trace headers, which always differ. The keys differ for each endpoint of a URL group.
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
