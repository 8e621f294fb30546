import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { api, ok, unique } from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const published = z.object({ messageId: z.string() });
const batch = async (items: unknown): Promise<readonly unknown[]> =>
  z.array(z.unknown()).parse(await ok(api('POST', '/v2/batch', { body: items })));

/** An emulator gets fewer, because it starts a process for every few messages. */
const largest = service.target === 'local' ? 300 : 100;

describe('a batch', () => {
  it('answers each message in its place, and delivers each with its settings', async () => {
    const inbox = receiver.inbox();
    const queue = unique('queue');
    const answers = z.array(published).parse(
      await batch([
        { destination: inbox.url, body: '0', headers: { 'Content-Type': 'text/plain' } },
        {
          destination: `${inbox.url}/1?q=1`,
          body: 'ünï',
          headers: { 'svc-method': 'PUT', 'Svc-Forward-X-A': ['a', 'b'] },
        },
        { destination: inbox.url, queue },
      ]),
    );
    const deliveries = await inbox.received(3);
    const of = (index: number) =>
      deliveries.find(({ headers }) => headers['svc-message-id'] === answers[index]?.messageId);
    expect(of(0)?.body.toString()).toBe('0');
    expect(of(0)?.headers['content-type']).toBe('text/plain');
    expect([of(1)?.method, of(1)?.body.toString(), of(1)?.headers['x-a']]).toEqual(['PUT', 'ünï', 'a, b']);
    expect(of(1)?.target).toMatch(/\/1\?q=1$/);
    expect(of(2)?.headers['svc-queue-name']).toBe(queue);
    expect(of(2)?.body).toHaveLength(0);
  });

  it('accepts null for omitted fields', async () => {
    const inbox = receiver.inbox();
    const nothing = { body: null, headers: null, queue: null };
    const answers = z.array(published).parse(await batch([{ destination: inbox.url, ...nothing }]));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-message-id']).toBe(answers[0]?.messageId);
    expect(delivery?.body).toHaveLength(0);
    expect(delivery?.headers).not.toHaveProperty('svc-queue-name');
  });

  it('answers with a list for a group, in its place', async () => {
    const inboxes = [receiver.inbox(), receiver.inbox()];
    const name = await makeGroup(inboxes.map(({ url }) => ({ url })));
    const [first, second, third] = await batch([
      { destination: inboxes[0]?.url },
      { destination: name, body: 'to all' },
      { destination: inboxes[1]?.url },
    ]);
    expect(z.array(published).parse(second)).toHaveLength(2);
    published.parse(first);
    published.parse(third);
    for (const inbox of inboxes) {
      const deliveries = await inbox.received(2);
      expect(deliveries.map(({ body }) => body.toString()).sort()).toEqual(['', 'to all']);
    }
  });

  it('answers with an error in the place of each wrong message, and delivers the others', async () => {
    const inbox = receiver.inbox();
    const destination = inbox.url;
    const answers = await batch([
      { destination, body: 'first' },
      { destination, headers: { 'Svc-Retries': 'many' } },
      { destination, headers: { 'Svc-Retries': '99' } },
      { destination: 'unknown-group' },
      { destination: 'http://10.0.0.1/' },
      { destination: `${service.url}/v2/publish/x` },
      { body: 'nowhere' },
      { destination, queue: 'not$a$name' },
      { destination, headers: { 'X A': 'x' } },
      { destination, headers: { 'X-A': 'x'.repeat(20_000) } },
      { destination, body: 'x'.repeat(4 * 1_048_576 + 1) },
      'a text',
      { destination, body: 'last' },
    ]);
    const errors: readonly [status: number, code: ErrorCode, error: RegExp][] = [
      [400, 'field_invalid', /^\[1\]\.headers\.Svc-Retries is "many"; allowed/],
      [412, 'retries_over_limit', /^\[2\]\.headers\.Svc-Retries is 99, .*max_retries is 5/],
      [
        404,
        'url_group_not_found',
        /^\[3\]\.destination: There is no URL group "unknown-group": topic unknown-group not found\.$/,
      ],
      [403, 'destination_not_allowed', /^\[4\]\.destination is .*not a public address/],
      [403, 'delivery_loop', /^\[5\]\.destination is .*is this service itself/],
      [400, 'field_invalid', /^\[6\]\.destination: it is not a text; allowed is a URL, or the name of a/],
      [400, 'field_invalid', /^\[7\]\.queue is "not\$a\$name"; allowed are/],
      [400, 'field_invalid', /^\[8\]\.headers\.X A is not a valid HTTP header; allowed are/],
      [400, 'field_invalid', /^\[9\]\.headers have 20003 bytes; allowed are 10240\.$/],
      [413, 'body_too_large', /^\[10\]\.body has .*max_message_size is 4194304 bytes/],
      [
        400,
        'body_invalid',
        /^\[11\]: it is not an object; allowed is \{destination, body\?, headers\?, queue/,
      ],
    ];
    expect(answers.slice(1, -1)).toEqual(
      errors.map(([status, code, error]): unknown => ({
        status,
        code,
        error: expect.stringMatching(error) as unknown,
      })),
    );
    const sent = [answers[0], answers.at(-1)].map((answer) => published.parse(answer).messageId);
    const deliveries = await inbox.received(2);
    expect(new Set(deliveries.map(({ headers }) => headers['svc-message-id']))).toEqual(new Set(sent));
    expect(new Set(deliveries.map(({ body }) => body.toString()))).toEqual(new Set(['first', 'last']));
  });

  it(`of ${largest} messages is delivered whole`, async () => {
    const inbox = receiver.inbox();
    const items = Array.from({ length: largest }, (_, number) => ({
      destination: inbox.url,
      body: String(number),
    }));
    const answers = z.array(published).parse(await batch(items));
    const deliveries = await inbox.received(largest);
    const bodies = new Map(
      deliveries.map(({ headers, body }) => [headers['svc-message-id'], body.toString()]),
    );
    expect(answers.map(({ messageId }) => bodies.get(messageId))).toEqual(items.map(({ body }) => body));
  });

  it('that becomes too large to store in time through its groups is refused as a whole', async () => {
    const inbox = receiver.inbox();
    const endpoints = Array.from({ length: 100 }, (_, index) => ({ url: `${inbox.url}/${index}` }));
    const group = await makeGroup(endpoints);
    const items = Array.from({ length: 51 }, () => ({ destination: group }));
    await expectRefusal(
      api('POST', '/v2/batch', { body: items }),
      400,
      'The batch makes 5100 messages, groups counted out; allowed are 5000.',
    );
    expect(inbox.deliveries).toHaveLength(0);
  });

  it.each<[body: unknown, says: RegExp]>([
    [{ destination: 'x' }, /^The body is not a list; allowed is a JSON array of messages\.$/],
    [Array.from({ length: 1_001 }, () => ({})), /^The body has 1001 messages; allowed are 1000\.$/],
    [undefined, /^The body is not JSON\.$/],
  ])('that is none is refused', async (body, says) => {
    await expectRefusal(api('POST', '/v2/batch', { body }), 400, says);
  });
});
