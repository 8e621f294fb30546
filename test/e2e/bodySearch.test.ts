import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, logged, ok, query, unique } from '../support/api.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

const page = z.object({
  searched: z.optional(z.number()),
  cursor: z.optional(z.string()),
  logs: z.optional(z.array(z.object({ messageId: z.string() }))),
  messages: z.optional(z.array(z.object({ messageId: z.string() }))),
});

async function search(path: string, filters: Filters) {
  const {
    searched,
    cursor,
    logs,
    messages = [],
  } = page.parse(await ok(api('GET', `${path}${query(filters)}`)));
  const rows = logs ?? messages;
  return { searched, cursor, ids: [...new Set(rows.map(({ messageId }) => messageId))] };
}

async function failed(
  bodies: readonly (string | Uint8Array<ArrayBuffer>)[],
  headers: Record<string, string> = {},
) {
  const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
  const label = unique('label');
  const all = { 'Svc-Label': label, 'Svc-Retries': '0', ...headers };
  const ids: string[] = [];
  for (const body of bodies) ids.push(messageIdOf(await publish(inbox.url, { body, headers: all })));
  await deadLettered({ label }, ids.length);
  // Each has CREATED, ACTIVE, ERROR and FAILED.
  await logged({ label }, 4 * ids.length);
  return { label, ids };
}

const sizes = { 'in its row': 100, 'in the bucket': 60_000 };
const paths = ['/v2/logs', '/v2/events', '/v2/dlq'];

/** Returns incompressible text with the given text in its middle. */
function textOf(bytes: number, inside: string): string {
  let number = 1;
  const noise = Array.from({ length: bytes / 2 }, () => {
    number = (number * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (number % 90));
  }).join('');
  return `${noise}${inside}${noise}`;
}

describe('a search in bodies', () => {
  it.each(Object.entries(sizes))(
    'finds text that is %s, and says how many bodies it has read',
    async (_where, size) => {
      const text = unique('order-№');
      const { label, ids } = await failed([
        textOf(size, 'nothing'),
        textOf(size, text),
        textOf(size, text.toUpperCase()),
        '',
      ]);
      for (const path of paths) {
        const found = await search(path, { label, body: text });
        expect(found.ids).toEqual([ids[1]]);
        expect(found.cursor).toBeUndefined();
        // The log has a row for each message, and one for its attempt.
        expect(found.searched).toBe(path === '/v2/dlq' ? 4 : 8);
      }
      const several = await search('/v2/dlq', { label, body: [text, 'nothing'], order: 'earliestFirst' });
      expect(several.ids).toEqual([ids[0], ids[1]]);
    },
  );

  it('finds texts with commas and spaces in binary bodies, and continues after a cursor', async () => {
    const text = `{"id": ${Date.now()}, "of": "ü"}`;
    const bytes = new Uint8Array([0xff, 0, ...new TextEncoder().encode(text), 0xfe]);
    const { label, ids } = await failed([bytes, `a${text}b`, 'other']);
    const first = await search('/v2/dlq', { label, body: text, count: 1 });
    expect(first).toMatchObject({ ids: [ids[1]], searched: 2 });
    const second = await search('/v2/dlq', { label, body: text, count: 1, cursor: first.cursor });
    expect(second).toMatchObject({ ids: [ids[0]], searched: 1 });
    const { ids: both } = await search('/v2/logs', { label, body: text, state: 'FAILED' });
    expect(both).toEqual([ids[1], ids[0]]);
  });

  it('never finds redacted text, nor its hash', async () => {
    const text = unique('secret');
    const { label } = await failed([text], { 'Svc-Redact-Fields': 'body' });
    for (const path of paths) {
      for (const body of [text, 'REDACTED', 's']) {
        expect(await search(path, { label, body })).toMatchObject({ ids: [] });
      }
    }
  });
});
