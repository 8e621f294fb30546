import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, getMessage, listLogs, logged, ok, unique } from '../support/api.ts';
import { makeGroup, setDefaults } from '../support/groups.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { send } from '../support/send.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** RFC 9110, 5.5 leaves bytes above 0x7F to the recipient. Here valid UTF-8 is UTF-8, and anything else Latin-1. */
const receiver = useReceiver();
const token = { authorization: `Bearer ${service.token}` };
const later = { 'Svc-Delay': '10m' };
const somewhere = 'https://example.com/hook';

/** A text as curl sends it: Node writes each character of a header as one byte. */
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

const accepted = z.object({ messageId: z.string() });
const doors = [service.url, service.publishUrl];

async function byHeader(url: string, destination: string, headers: Record<string, string>): Promise<string> {
  const answer = await send(url, { path: `/v2/publish/${destination}`, headers: { ...token, ...headers } });
  return accepted.parse(JSON.parse(answer.text)).messageId;
}

async function byQuery(destination: string, settings: Record<string, string>): Promise<string> {
  const query = Object.entries(settings).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return messageIdOf(await publish(destination, { query: query.join('&') }));
}

async function byBatch(destination: string, headers: Record<string, string>): Promise<string> {
  const [answer] = z
    .array(accepted)
    .parse(await ok(api('POST', '/v2/batch', { body: [{ destination, headers }] })));
  return answer?.messageId ?? '';
}

/**
 * The last texts begin or end with bytes that are white space in Latin-1, or look like UTF-8 that was read
 * wrongly. The emulator's gateway passes on text instead of bytes, and such text looks like bytes.
 */
const texts = ['東京 é, 😀', ...(service.target === 'local' ? ['à', 'Ã©'] : [])];

describe('a text in a header of the service', () => {
  it.each(texts)('%s is the same by header, query, batch and default', async (text) => {
    const label = `${unique('l')} ${text.replace(',', '')}`;
    const key = `${unique('k')} ${text}`.replace(/[,\s]/g, '-');
    const settings = (of: (value: string) => string) => ({
      'svc-delay': '10m',
      'svc-label': of(label),
      'svc-flow-control-key': of(key),
      'svc-flow-control-value': 'parallelism=2',
    });
    const asText = settings((value) => value);
    const group = await makeGroup([{ url: somewhere }]);
    await setDefaults(group, {
      'Svc-Label': label,
      'Svc-Flow-Control-Key': key,
      'Svc-Flow-Control-Value': 'parallelism=2',
    });
    const byDefault = z.array(accepted).parse((await publish(group, { headers: later })).json);
    const ids = [
      ...(await Promise.all(doors.map((url) => byHeader(url, somewhere, settings(utf8))))),
      await byQuery(somewhere, asText),
      await byBatch(somewhere, asText),
      byDefault[0]?.messageId ?? '',
    ];
    for (const id of ids)
      expect(await getMessage(id)).toMatchObject({ labels: [label], flowControlKey: key });
    const found = await logged({ label }, ids.length);
    expect(new Set(found.map(({ messageId }) => messageId))).toEqual(new Set(ids));
    expect((await listLogs({ flowControlKey: key })).logs).toHaveLength(ids.length);
    const keys = z.object({ flowControlKey: z.string() });
    expect(
      keys.parse(await ok(api('GET', `/v2/flowControl/${encodeURIComponent(key)}`))).flowControlKey,
    ).toBe(key);
    const cancelled = await ok(api('DELETE', `/v2/messages?label=${encodeURIComponent(label)}`));
    expect(cancelled).toMatchObject({ cancelled: ids.length });
  });

  it.each(['caf\xe9', '\xe6\x9d'])('is Latin-1 if it is not UTF-8: %j', async (bytes) => {
    for (const url of doors) {
      const id = await byHeader(url, somewhere, {
        ...later,
        'svc-label': bytes,
        'svc-forward-x-text': bytes,
      });
      expect(await getMessage(id)).toMatchObject({ labels: [bytes], header: { 'X-Text': [bytes] } });
    }
  });
});

describe('a forwarded header', () => {
  it.each([...texts.map(utf8), '\xff\xfe x', '\xe6\x9d'])('arrives byte for byte: %j', async (bytes) => {
    for (const url of doors) {
      const inbox = receiver.inbox();
      await byHeader(url, inbox.url, {
        'svc-forward-x-text': bytes,
        'svc-header-forward': 'true',
        'x-other': bytes,
        'content-type': `text/plain; title="${bytes}"`,
      });
      const [delivery] = await inbox.received(1);
      expect(delivery?.headers).toMatchObject({
        'x-text': bytes,
        'x-other': bytes,
        'content-type': `text/plain; title="${bytes}"`,
      });
    }
  });

  it.each(texts)(
    'with the text %s arrives in UTF-8 from a query, batch, group and schedule',
    async (text) => {
      const inbox = receiver.inbox();
      const group = await makeGroup([{ url: inbox.url, name: '第一 endpoint' }]);
      await setDefaults(group, { 'Svc-Forward-X-Text': text });
      await byQuery(inbox.url, { 'svc-forward-x-text': text });
      const id = await byBatch(inbox.url, { 'Svc-Forward-X-Text': text });
      await ok(publish(group));
      const schedule = await send(service.url, {
        path: `/v2/schedules/${inbox.url}`,
        headers: {
          ...token,
          'Svc-Cron': '0 0 29 2 *',
          'svc-forward-x-text': utf8(text),
          'svc-label': utf8('東京'),
        },
      });
      const { scheduleId } = z.object({ scheduleId: z.string() }).parse(JSON.parse(schedule.text));
      expect(await ok(api('GET', `/v2/schedules/${scheduleId}`))).toMatchObject({
        header: { 'X-Text': [text] },
        label: '東京',
      });
      await ok(
        api('PATCH', `/v2/schedules/${scheduleId}`, { body: { headers: { 'Svc-Forward-X-Two': text } } }),
      );
      await ok(api('POST', `/v2/schedules/${scheduleId}/run`));
      const deliveries = await inbox.received(4);
      expect(deliveries.map(({ headers }) => headers['x-text'])).toEqual(Array(4).fill(utf8(text)));
      expect(deliveries.flatMap(({ headers }) => headers['svc-endpoint-name'] ?? [])).toEqual([
        utf8('第一 endpoint'),
      ]);
      expect(deliveries.flatMap(({ headers }) => headers['x-two'] ?? [])).toEqual([utf8(text)]);
      const [entry] = await logged({ messageId: id, state: 'DELIVERED' }, 1);
      expect(entry).toMatchObject({ header: { 'X-Text': [text] } });
      await ok(api('DELETE', `/v2/schedules/${scheduleId}`));
    },
  );

  it.each(['a\nX-Evil: 1', '東京\r\nX-Evil: 1', 'a\u0000', '\u007f'])(
    'cannot have a line break or control character: %j',
    async (text) => {
      const refused = await publish(somewhere, { query: `svc-forward-x=${encodeURIComponent(text)}` });
      expect(refused.status).toBe(400);
      const [item] = z.array(z.object({ status: z.number() })).parse(
        await ok(
          api('POST', '/v2/batch', {
            body: [{ destination: somewhere, headers: { 'Svc-Forward-X': text } }],
          }),
        ),
      );
      expect(item?.status).toBe(400);
    },
  );
});

describe('an answer', () => {
  it('has its headers as text in the log and in a callback', async () => {
    const callbacks = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead(500, { 'X-Reason': utf8('壊れた é'), 'X-Old': 'caf\xe9' }).end();
    });
    const id = messageIdOf(
      await publish(inbox.url, { headers: { 'Svc-Retries': '0', 'Svc-Failure-Callback': callbacks.url } }),
    );
    const [callback] = await callbacks.received(1);
    expect(JSON.parse(callback?.body.toString() ?? '')).toMatchObject({
      header: { 'X-Reason': ['壊れた é'], 'X-Old': ['café'] },
    });
    const [entry] = await logged({ messageId: id, state: 'ERROR' }, 1);
    expect(JSON.stringify(entry)).toContain('壊れた é');
  });
});
