import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { enqueue, lagOf, putQueue, upTo } from '../support/lanes.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** A message may have a priority within its tenant. */

const receiver = useReceiver();

const laneShape = z.looseObject({
  fairKeys: z.optional(z.array(z.object({ fairKey: z.string(), waiting: z.number() }))),
});
const bodiesOf = async (inbox: ReturnType<typeof receiver.inbox>, count: number) =>
  (await inbox.received(count)).map(({ body }) => body.toString());

const of = (fairKey: string | undefined, priority?: string): Record<string, string> => ({
  ...(fairKey !== undefined && { 'Svc-Fair-Key': fairKey }),
  ...(priority !== undefined && { 'Svc-Priority': priority }),
});

/** More customers than a lane’s row keeps. */
const customers = upTo(7).map((number) => `customer ${number}`);

describe('a queue', () => {
  it('delivers its customers’ messages in turn, and shows who waits', async () => {
    const inbox = receiver.inbox();
    const name = unique('fair');
    await putQueue(name, { paused: true });
    for (const number of upTo(12)) {
      await enqueue(name, inbox.url, { body: `busy ${number}`, headers: of('busy') });
    }
    for (const customer of customers) {
      await enqueue(name, inbox.url, { body: customer, headers: of(customer) });
    }
    await enqueue(name, inbox.url, { body: 'nobody' });
    const shown = laneShape.parse(await ok(api('GET', `/v2/queues/${name}`)));
    expect(shown.fairKeys?.[0]).toEqual({ fairKey: 'busy', waiting: 12 });
    expect(shown.fairKeys).toHaveLength(1 + customers.length);
    expect(await lagOf(name)).toBe(20);
    await ok(api('POST', `/v2/queues/${name}/resume`));
    expect(await bodiesOf(inbox, 20)).toEqual([
      'busy 0',
      ...customers,
      'nobody',
      ...upTo(11).map((number) => `busy ${number + 1}`),
    ]);
    await eventually(
      () => lagOf(name),
      (lag) => lag === 0,
    );
    expect(laneShape.parse(await ok(api('GET', `/v2/queues/${name}`))).fairKeys).toBeUndefined();
  });

  it('delivers by priority within a customer, with one of eight starts for a lower priority', async () => {
    const inbox = receiver.inbox();
    const name = unique('urgent');
    await putQueue(name, { paused: true });
    await enqueue(name, inbox.url, { body: 'low', headers: of(undefined, 'low') });
    await enqueue(name, inbox.url, { body: 'normal' });
    for (const number of upTo(9)) {
      await enqueue(name, inbox.url, { body: `high ${number}`, headers: of(undefined, 'High') });
    }
    await ok(api('POST', `/v2/queues/${name}/resume`));
    expect(await bodiesOf(inbox, 11)).toEqual([
      ...upTo(7).map((number) => `high ${number}`),
      'low',
      'high 7',
      'high 8',
      'normal',
    ]);
  });
});

describe('a message', () => {
  it('shows its fair key and its priority, and its callback has its own', async () => {
    const [inbox, callbacks] = [receiver.inbox(), receiver.inbox()];
    const messageId = messageIdOf(
      await publish(inbox.url, {
        headers: {
          ...of('customer 1', 'low'),
          'Svc-Callback': callbacks.url,
          'Svc-Callback-Fair-Key': 'callbacks',
          'Svc-Callback-Priority': 'high',
        },
      }),
    );
    const [callback] = await callbacks.received(1);
    expect(await getInAnyState(messageId)).toMatchObject({ fairKey: 'customer 1', priority: 'low' });
    const callbackId = callback?.headers['svc-message-id'] ?? '';
    expect(await getInAnyState(callbackId)).toMatchObject({ fairKey: 'callbacks', priority: 'high' });
  });

  it.each([
    [{ 'Svc-Fair-Key': '' }, 'Svc-Fair-Key is ""; allowed are 1 to 64 characters of Unicode.'],
    [
      { 'Svc-Fair-Key': 'x'.repeat(65) },
      expect.stringMatching(/^Svc-Fair-Key is "x+\.\.\."; allowed are 1 to 64 characters of Unicode\.$/),
    ],
    [{ 'Svc-Priority': 'urgent' }, 'Svc-Priority is "urgent"; allowed are high, normal and low.'],
  ])('is refused with another value, by name: %o', async (headers, said) => {
    const answer = await publish(receiver.inbox().url, { headers });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toEqual(said);
  });
});
