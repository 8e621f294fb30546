import { beforeEach, describe, expect, it, vi } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';
import type { LaneFixture } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';

/** Tests debounced messages in simulated time, which makes times exact. */

let fixture: Fixture;
const importPublishing = async () => {
  const [prepare, debounce] = await Promise.all([
    import('../../../lambdas/publish/prepare.ts'),
    import('../../../lambdas/publish/repeated/debounce.ts'),
  ]);
  return { ...prepare, ...debounce };
};
/** Loaded before fleets reset modules, with the clients that can die and whose calls are counted. */
let importing: ReturnType<typeof importPublishing>;
const open = useLaneFixtures((opened) => {
  fixture = opened;
  importing = importPublishing();
});

let laneFixture: LaneFixture;
let inbox: Inbox;
beforeEach(async () => {
  laneFixture = await open();
  inbox = fixture.receiver.inbox();
});

const quietly = { debounce: '30s', 'debounce-id': 'cart' };

async function publish(body: string, config: Readonly<Record<string, string>> = quietly, queueName?: string) {
  const { prepare, publishDebounced } = await importing;
  const { account } = laneFixture;
  const request = { ...requestOf(inbox.url, { timeout: '20s', ...config }, body), queueName };
  const prepared = await prepare(account, request);
  if (prepared.deduplication?.by !== 'debounce') throw new Error('It is not debounced.');
  return publishDebounced(account, prepared, prepared.deduplication);
}

const bodies = (): readonly string[] => inbox.deliveries.map(({ body }) => body.toString());

describe('messages with one debounce id', () => {
  it('become one, which is delivered with the newest body after a quiet time', async () => {
    const ids: string[] = [];
    for (const body of ['1', '2', '3']) {
      const answer = await publish(body);
      expect(answer).toMatchObject({ status: 200, body: { debounced: true } });
      ids.push(idOf(answer));
      await laneFixture.fleet.advance(20 * secondMs);
    }
    expect(new Set(ids).size).toBe(1);
    await laneFixture.fleet.advance(9 * secondMs);
    expect(bodies()).toEqual([]);
    await laneFixture.fleet.advance(3 * secondMs);
    expect(bodies()).toEqual(['3']);
    expect(inbox.deliveries[0]?.headers['svc-message-id']).toBe(ids[0]);
    await laneFixture.fleet.advance(hourMs);
    expect(bodies()).toEqual(['3']);
    // The next one is another message.
    expect(ids).not.toContain(idOf(await publish('4')));
    await laneFixture.settle();
    expect(bodies()).toEqual(['3', '4']);
  });

  it('wait for the end of a quiet time that a publish moved by more than workers may come early', async () => {
    const config = { ...quietly, debounce: '15m' };
    await publish('1', config);
    await laneFixture.fleet.advance(14 * minuteMs);
    await publish('2', config);
    await laneFixture.fleet.advance(14 * minuteMs);
    expect(bodies()).toEqual([]);
    await laneFixture.fleet.advance(minuteMs + 2 * secondMs);
    expect(bodies()).toEqual(['2']);
  });

  it('are delivered after the longest time at the latest, with the newest body', async () => {
    const config = { ...quietly, 'debounce-max': '1m' };
    for (let body = 0; body < 9; body += 1) {
      await publish(String(body), config);
      await laneFixture.fleet.advance(20 * secondMs);
    }
    await laneFixture.fleet.advance(minuteMs);
    expect(bodies()).toEqual(['2', '5', '8']);
  });

  it('replace settings, even the delivery queue, and keep large bodies separate', async () => {
    const large = (text: string): string => text.repeat(4_000);
    await publish(large('a'));
    await laneFixture.fleet.advance(10 * secondMs);
    await publish(large('b'), { ...quietly, timeout: '2m', method: 'PUT' });
    await laneFixture.fleet.advance(minuteMs);
    expect(bodies()).toEqual([large('b')]);
    expect(inbox.deliveries[0]?.method).toBe('PUT');
  });

  it('may have a shorter quiet time than earlier ones, which does not make the delivery earlier', async () => {
    await publish('long');
    await publish('short', { ...quietly, debounce: '1s' });
    await laneFixture.fleet.advance(20 * secondMs);
    expect(bodies()).toEqual([]);
    await laneFixture.fleet.advance(15 * secondMs);
    expect(bodies()).toEqual(['short']);
  });

  it('from many clients at once are one message with one of the bodies', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, (_, body) => publish(String(body))));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(bodies()).toHaveLength(1);
  });

  it('are delivered by the job of their period, not by that of a period that another publish began first', async () => {
    // The publish that is slower begins the next period, because the first one is over when it tries again.
    fixture.reset();
    fixture.beforeCall('UpdateItemCommand', 3, () => laneFixture.fleet.advance(31 * secondMs));
    const ids = (await Promise.all(['1', '2'].map((body) => publish(body)))).map(idOf);
    expect(new Set(ids).size).toBe(2);
    const [delivered] = inbox.deliveries.map(({ headers }) => headers['svc-message-id']);
    const messageId = ids.find((id) => id !== delivered) ?? '';
    const history = await fixture.loadMessage({ accountId: laneFixture.account.id, messageId });
    laneFixture.fleet.hold(true);
    await laneFixture.fleet.advance(31 * secondMs);
    const { attemptJob } = await import('../../../lambdas/job/job.ts');
    if (history === undefined) throw new Error('It is not there.');
    const job = attemptJob(history.message, 0);
    const lostAt = history.message.notBefore - 31 * secondMs;
    await fixture.perform({ ...job, madeAt: lostAt }, { isAgain: false });
    expect(inbox.deliveries).toHaveLength(1);
    laneFixture.fleet.hold(false);
    await laneFixture.fleet.advance(hourMs);
    expect(bodies().toSorted()).toEqual(['1', '2']);
  });

  it('become a new message after theirs was cancelled', async () => {
    const cancelled = idOf(await publish('cancelled'));
    const { cancelMessage } = await import('../../../lambdas/publish/cancel.ts');
    await cancelMessage(laneFixture.account, cancelled);
    const next = idOf(await publish('next'));
    expect(next).not.toBe(cancelled);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(bodies()).toEqual(['next']);
  });

  it('pass through their queue', async () => {
    for (const body of ['1', '2']) await publish(body, quietly, 'carts');
    await laneFixture.fleet.advance(minuteMs);
    expect(bodies()).toEqual(['2']);
    await laneFixture.settle();
  });

  it('cost two conditional writes each', async () => {
    // The first request also reads what the account used.
    await publish('other', { ...quietly, 'debounce-id': 'other' });
    fixture.reset();
    await publish('first');
    // Looks for the period, begins it, and writes its message.
    expect(fixture.operations()).toEqual({ UpdateItemCommand: 1, SendMessageCommand: 1, PutItemCommand: 2 });
    fixture.reset();
    await publish('second');
    expect(fixture.operations()).toEqual({ UpdateItemCommand: 1, PutItemCommand: 1 });
  });
});

describe('a debounced message', () => {
  itAtEachDeath('that was accepted is delivered once where the next publish dies', async (fate) => {
    laneFixture = await open();
    inbox = fixture.receiver.inbox();
    await publish('accepted');
    await laneFixture.fleet.advance(10 * secondMs);
    await fixture.underFate(fate, () => publish('dies'));
    fixture.reset();
    await laneFixture.fleet.advance(hourMs);
    expect(bodies()).toHaveLength(1);
    expect(['accepted', 'dies']).toContain(bodies()[0]);
  });

  itAtEachDeath('is delivered once where its publisher dies and publishes again', async (fate) => {
    laneFixture = await open();
    inbox = fixture.receiver.inbox();
    await fixture.again(fate, () => publish('again'));
    fixture.reset();
    await laneFixture.fleet.advance(hourMs);
    expect(bodies()).toEqual(['again']);
  });

  itAtEachDeath('is delivered with the newest body whenever its worker dies', async (fate) => {
    laneFixture = await open();
    inbox = fixture.receiver.inbox();
    await publish('old');
    await laneFixture.fleet.advance(20 * secondMs);
    await publish('new');
    laneFixture.fleet.setFate(fate);
    await laneFixture.fleet.advance(hourMs);
    laneFixture.fleet.setFate(undefined);
    await laneFixture.fleet.advance(3 * hourMs);
    // A worker that dies between the answer and its record repeats the request.
    expect(new Set(bodies())).toEqual(new Set(['new']));
    expect(new Set(inbox.deliveries.map(({ headers }) => headers['svc-message-id'])).size).toBe(1);
  });

  it('whose first publisher died before it wrote the message is delivered with the next body', async () => {
    const { joinPeriod, periodKey } = await import('../../../lambdas/debounce/joinPeriod.ts');
    const { attemptJob } = await import('../../../lambdas/job/job.ts');
    const { sendJob } = await import('../../../lambdas/job/send.ts');
    const { newId } = await import('../../../lambdas/shared/ids.ts');
    const { id: accountId } = laneFixture.account;
    const messageId = newId('msg', Date.now(), laneFixture.account.shards);
    const lost = { accountId, messageId, url: inbox.url, timeoutMs: 20_000 };
    await joinPeriod({
      ...{ key: periodKey(accountId, 'cart'), messageId, quietMs: 30_000, mostMs: hourMs },
      onBegin: (dueAt) => sendJob({ ...attemptJob(lost, 0), madeAt: dueAt }, dueAt),
    });
    await laneFixture.fleet.advance(29 * secondMs);
    expect(idOf(await publish('next'))).toBe(messageId);
    await laneFixture.fleet.advance(hourMs);
    expect(bodies()).toEqual(['next']);
  });

  it('is delivered after its quiet time if the clock steps back, with the newest body', async () => {
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + hourMs);
    await publish('before');
    vi.spyOn(Date, 'now').mockImplementation(now);
    await publish('after');
    laneFixture.fleet.hold(true);
    await laneFixture.fleet.advance(40 * secondMs);
    laneFixture.fleet.hold(false);
    await laneFixture.fleet.advance(10 * minuteMs);
    expect(bodies()).toEqual(['after']);
    // Before the simulated clock ends, which the spy would bring back.
    vi.restoreAllMocks();
  });
});
