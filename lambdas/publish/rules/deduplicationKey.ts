import type { Header } from '../../shared/headers.ts';
import { createHash } from 'node:crypto';
import { minuteMs } from '../../shared/clock.ts';
import { isTraceHeader } from '../../request/forwarding.ts';
import type { Deduplication } from '../../options/deduplication.ts';

/** A message is a duplicate for this long after the first one like it. */
export const deduplicationWindowMs = 10 * minuteMs;

/**
 * Makes the key that equal messages share. By id it follows from the account and the id, by content from the
 * account, the destination, the body, the content type and the forwarded headers but those of a trace, which differ each time. The messages to the endpoints of a URL
 * group have different keys.
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
          'content',
          url,
          headers.filter((header) => !isTraceHeader(header)).sort(byName),
          createHash('sha256').update(body).digest('hex'),
        ];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return `${accountId}#${hash}`;
}
