import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok, query, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';

import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

/** No answer exceeds Lambda’s limit, and large data is still answered. */

const receiver = useReceiver();

const largest = 4 * 1_024 * 1_024;
const somewhere = 'https://example.com/hook';

/** Texts whose JSON is longer than the text. */
const texts = [
  ['control characters', '\u0001'],
  ['emoji', '😀'],
] as const;

/**
 * The emulator needs half a minute for 4 MiB of escaped characters, and answers nothing else during that time. It does not
 * enforce sizes, unlike Lambda and the local stage.
 */
const filled = (text: string): Buffer =>
  Buffer.alloc(service.target === 'local' ? largest : largest / 8, text);

const bodied = z.looseObject({ body: z.optional(z.string()), bodyBase64: z.optional(z.string()) });

function bodyOf(json: unknown): Buffer {
  const { body, bodyBase64 } = bodied.parse(json);
  return body === undefined ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(body);
}

const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

describe('a message of the largest size', () => {
  it.each(
    [
      ...texts.map(([name, text]) => [name, filled(text)] as const),
      ['bytes', Buffer.alloc(largest, 0xff)] as const,
      // The emulator reads bodies as text, and replaces invalid bytes.
    ].filter(([, body]) => service.target === 'local' || isUtf8(body)),
  )('of %s is answered, byte for byte', async (_name, body) => {
    const answer = await publish(somewhere, { body: bytes(body), headers: { 'Svc-Delay': '1h' } });
    const messageId = messageIdOf(answer);
    expect(bodyOf(await ok(api('GET', `/v2/messages/${messageId}`))).equals(body)).toBe(true);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });
});

describe('schedules with large bodies', () => {
  it('are listed without them, and each is shown with its own', async () => {
    const account = await makeAccount();
    const { token } = account;
    const cron = { 'Svc-Cron': '0 0 1 1 *', 'Content-Type': 'text/plain' };
    const create = async (body: Buffer): Promise<string> => {
      const response = await fetch(`${service.url}/v2/schedules/${somewhere}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...cron },
        body: bytes(body),
      });
      return z.object({ scheduleId: z.string() }).parse(await response.json()).scheduleId;
    };
    const large = Buffer.alloc(2_000_000, '"');
    const ids = [await create(large), await create(large), await create(large), await create(large)];
    const small = await create(Buffer.from('small'));
    const none = await create(Buffer.alloc(0));
    const list = z
      .array(z.looseObject({ scheduleId: z.string(), body: z.optional(z.string()) }))
      .parse(await ok(api('GET', '/v2/schedules', { token })));
    const shown = new Map(list.map(({ scheduleId, body }) => [scheduleId, body]));
    expect([...shown.keys()].sort()).toEqual([...ids, small, none].sort());
    expect([...ids, small, none].map((id) => shown.get(id))).toEqual([
      ...ids.map(() => undefined),
      'small',
      undefined,
    ]);
    for (const id of ids) {
      expect(bodyOf(await ok(api('GET', `/v2/schedules/${id}`, { token }))).equals(large)).toBe(true);
    }
  });
});

describe('a list that is an array', () => {
  it('continues where its header says', async () => {
    const account = await makeAccount();
    const { token } = account;
    // Thirty groups have 6 MB of URLs, in which each backslash is escaped.
    const long = `http://127.0.0.1/?q=${'\\'.repeat(2_000)}`;
    const names = Array.from({ length: 30 }, () => unique('group')).sort();
    for (const name of names) {
      const endpoints = Array.from({ length: 100 }, (_, number) => ({ url: `${long}${number}` }));
      await ok(api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints }, token }));
    }
    const found: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const answer = await api('GET', `/v2/topics${query({ cursor })}`, { token });
      expect(answer.status).toBe(200);
      const groups = z.array(z.looseObject({ name: z.string() })).parse(answer.json);
      found.push(...groups.map(({ name }) => name));
      cursor = answer.headers.get('svc-cursor') ?? undefined;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(found).toEqual(names);
  });
});

describe.runIf(service.target === 'local')('a log of large answers', () => {
  it('is read in full pages without a gap', async () => {
    const account = await makeAccount({ max_events_size: 100_000 });
    const { token } = account;
    const { url } = receiver.inbox((_delivery, response) =>
      response.writeHead(500).end(Buffer.alloc(100_000, 0xff)),
    );
    const items = Array.from({ length: 50 }, () => ({ destination: url, headers: { 'Svc-Retries': '0' } }));
    await ok(api('POST', '/v2/batch', { body: items, token }));
    const page = z.looseObject({
      cursor: z.optional(z.string()),
      logs: z.array(z.looseObject({ messageId: z.string(), state: z.string() })),
      events: z.optional(z.array(z.looseObject({ messageId: z.string() }))),
    });
    await eventually(
      async () => page.parse(await ok(api('GET', '/v2/logs?state=FAILED', { token }))).logs.length,
      (length) => length === 50,
    );
    for (const path of ['/v2/logs', '/v2/events']) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { logs, events, ...rest } = page.parse(
          await ok(api('GET', `${path}${query({ count: 100, cursor })}`, { token })),
        );
        if (path === '/v2/events') expect(events).toEqual(logs);
        seen.push(...logs.map(({ messageId, state }) => `${messageId} ${state}`));
        ({ cursor } = rest);
      } while (cursor !== undefined);
      // CREATED, ACTIVE, ERROR and FAILED of each.
      expect(seen).toHaveLength(200);
      expect(new Set(seen).size).toBe(200);
    }
  });
});

describe('a batch', () => {
  it('whose answer would be too large is refused, and nothing in it is accepted', async () => {
    const account = await makeAccount();
    const { token } = account;
    const name = unique('long');
    const url = `http://127.0.0.1:1/${'x'.repeat(2_000)}`;
    const endpoints = Array.from({ length: 100 }, (_, number) => ({ url: `${url}${number}` }));
    await ok(api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints }, token }));
    await expectRefusal(
      api('POST', '/v2/batch', {
        body: Array.from({ length: 50 }, () => ({ destination: name, headers: { 'Svc-Delay': '1h' } })),
        token,
      }),
      400,
      /^The answer to the batch would have up to \d+ bytes, .* allowed are 4703667\./,
    );
    const { logs } = z
      .looseObject({ logs: z.array(z.unknown()) })
      .parse(await ok(api('GET', '/v2/logs', { token })));
    expect(logs).toEqual([]);
  });
});
