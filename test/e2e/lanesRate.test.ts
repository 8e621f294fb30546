import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { answerSlowly, enqueue, many, numbersOf, send, sendFrom, underKey, upTo } from '../support/lanes.ts';
import { service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/**
 * On a slow machine a request may arrive long after its start was counted. Arrivals are therefore compared with times before
 * the start: the publish, and with parallelism 1 the answer before.
 */

const receiver = useReceiver();

const senders = 5;

/**
 * Seconds of a period. A job that arrives a period late loses its turn, and a busy emulator may need seconds to start a worker.
 */
const second = service.target === 'local' ? 1 : 6;
/** Enough for a second period if each takes long. */
const periods = service.target === 'local' ? 5 : 2;

/** Expects that no request arrived before its period. The first `rate` requests belong to the first period. */
function expectPeriods(
  deliveries: readonly Delivery[],
  beganAt: number,
  { rate, periodMs }: { readonly rate: number; readonly periodMs: number },
): void {
  for (const [index, { at }] of deliveries.entries()) {
    expect(at).toBeGreaterThanOrEqual(beganAt + Math.floor(index / rate) * periodMs);
  }
}

const sorted = (deliveries: readonly Delivery[]): readonly number[] =>
  [...numbersOf(deliveries)].sort((one, other) => one - other);

/** Waits for a later message without a key: all earlier ones have been handled. */
async function othersGo(stage: { readonly url?: string; readonly token?: string } = {}): Promise<void> {
  const marker = receiver.inbox();
  await send(marker.url, stage);
  await marker.received(1);
}

describe('a rate', () => {
  it.each([
    { value: `rate=5,period=${2 * second}s`, rate: 5, periodMs: 2_000 * second },
    {
      value: service.target === 'local' ? 'rate=3' : `rate=3,period=${second}`,
      rate: 3,
      periodMs: 1_000 * second,
    },
    { value: `rate=1,period=${second}`, rate: 1, periodMs: 1_000 * second },
  ])('of $value never has more starts in a period', async ({ value, rate, periodMs }) => {
    const count = periods * rate;
    const inbox = receiver.inbox(answerSlowly);
    const headers = underKey(unique('key'), value);
    const beganAt = Date.now();
    await sendFrom(senders, count, (number) => send(inbox.url, { body: String(number), headers }));
    const all = await inbox.received(count);
    expect(sorted(all)).toEqual(upTo(count));
    expectPeriods(all, beganAt, { rate, periodMs });
  });

  it('with parallelism 1 never has more starts in any span of its period', async () => {
    const [rate, periodMs] = [4, 1_000 * second];
    const count = periods * rate;
    const answeredAt: number[] = [];
    const inbox = receiver.inbox((_delivery, response) => {
      answeredAt.push(Date.now());
      response.writeHead(200).end();
    });
    const headers = underKey(unique('key'), `parallelism=1,rate=${rate},period=${second}s`);
    await sendFrom(senders, count, (number) => send(inbox.url, { body: String(number), headers }));
    const all = await inbox.received(count);
    expect(sorted(all)).toEqual(upTo(count));
    // A start is counted after the answer before it, and the one `rate` later is a whole period after that.
    for (let index = 1; index + rate < count; index += 1) {
      const at = all[index + rate]?.at ?? 0;
      expect(at).toBeGreaterThanOrEqual((answeredAt[index - 1] ?? Infinity) + periodMs);
    }
  });

  it('counts retries, and messages of queues', async () => {
    const [rate, periodMs] = [3, 1_000 * second];
    const inbox = receiver.inbox((delivery, response) =>
      response.writeHead(delivery.headers['svc-retried'] === '0' ? 500 : 200).end(),
    );
    const headers = {
      ...underKey(unique('key'), `rate=${rate},period=${second}s`),
      'Svc-Retries': '1',
      'Svc-Retry-Delay': '1',
    };
    const queue = unique('queue');
    const beganAt = Date.now();
    await sendFrom(2, 6, (number) => {
      const init = { body: String(number), headers };
      return number % 2 === 0 ? send(inbox.url, init) : enqueue(queue, inbox.url, init);
    });
    const all = await inbox.received(12);
    expect(sorted(all)).toEqual(upTo(12).map((index) => Math.floor(index / 2)));
    expectPeriods(all, beganAt, { rate, periodMs });
  });

  it('of a long period starts that many, and holds back nothing else', async () => {
    const inbox = receiver.inbox();
    const headers = underKey(unique('key'), 'rate=5,period=1h');
    await sendFrom(senders, many, (number) => send(inbox.url, { body: String(number), headers }));
    await inbox.received(5);
    await othersGo();
    expect(inbox.deliveries).toHaveLength(5);
  });

  it('that a newer message raises starts more at once', async () => {
    const inbox = receiver.inbox();
    const key = unique('key');
    await sendFrom(1, 6, (number) =>
      send(inbox.url, { body: String(number), headers: underKey(key, 'rate=2,period=1d') }),
    );
    await inbox.received(2);
    await send(inbox.url, { body: '6', headers: underKey(key, 'rate=5,period=1d') });
    await inbox.received(5);
    await othersGo();
    expect(inbox.deliveries).toHaveLength(5);
  });
});

describe.runIf(service.target === 'local')('as time passes, a rate', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage({ testControl: true });
  });
  afterAll(() => stage.remove());

  it('starts exactly that many in each period', async () => {
    const { url, token } = stage;
    const inbox = receiver.inbox();
    const headers = underKey('hourly', 'rate=5,period=1h');
    await sendFrom(senders, 13, (number) => send(inbox.url, { url, token, body: String(number), headers }));
    for (const count of [5, 10, 13]) {
      await inbox.received(count);
      await stage.advance(30 * 60_000);
      await othersGo(stage);
      expect(inbox.deliveries).toHaveLength(count);
      await stage.advance(30 * 60_000);
    }
    expect(sorted(inbox.deliveries)).toEqual(upTo(13));
  });

  it('of a week starts the next ones a week later', async () => {
    const { url, token } = stage;
    const inbox = receiver.inbox();
    const headers = underKey('weekly', 'rate=1,period=7d');
    await sendFrom(1, 2, (number) => send(inbox.url, { url, token, body: String(number), headers }));
    await inbox.received(1);
    await stage.advance(6 * 24 * 3_600_000);
    await othersGo(stage);
    expect(inbox.deliveries).toHaveLength(1);
    await stage.advance(24 * 3_600_000);
    await inbox.received(2);
  });
});
