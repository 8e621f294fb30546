import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import type { Fixture } from '../../support/fixture.ts';
import type { LaneFixture } from '../../support/laneFixture.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';

/** Time is simulated, so that times are exact. */

let fixture: Fixture;
const importChanging = async () => {
  const [change, parsing] = await Promise.all([
    import('../../../lambdas/publish/change.ts'),
    import('../../../lambdas/request/messageChange.ts'),
  ]);
  return { ...change, ...parsing };
};
let importing: ReturnType<typeof importChanging>;
const open = useLaneFixtures((opened) => {
  fixture = opened;
  // Fleets have separate modules with other clients.
  importing = importChanging();
});

const change = async ({ account }: LaneFixture, messageId: string, body: object) => {
  const { changeMessage, parseMessageChange } = await importing;
  const request = { prefix: 'Svc', config: new Map() };
  const changes = parseMessageChange(
    request,
    Buffer.from(JSON.stringify(body)),
    account,
    ['Svc'],
    Date.now(),
  );
  return changeMessage(account, messageId, changes);
};

/** The original delay and the changed one. */
const moves = [
  ['a minute to an hour', '1m', '1h', hourMs],
  ['an hour to a minute', '1h', '1m', minuteMs],
  ['twenty days to a minute', '20d', '1m', minuteMs],
  ['twenty days to thirty', '20d', '30d', 30 * dayMs],
] as const;

describe('a waiting message', () => {
  it.each(moves)('is moved from %s, and delivered once', async (_, from, to, inMs) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: from });
    const changedAt = Date.now();
    await change(laneFixture, messageId, { delay: to });
    await laneFixture.fleet.advance(inMs - 2 * secondMs);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(4 * secondMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(inbox.deliveries[0]?.at).toBeGreaterThanOrEqual(changedAt + inMs);
    await laneFixture.fleet.advance(40 * dayMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
  });

  it('costs three calls', async () => {
    const laneFixture = await open();
    const messageId = await laneFixture.send(fixture.receiver.origin, { delay: '10m' });
    fixture.reset();
    await change(laneFixture, messageId, { delay: '5m' });
    expect(fixture.operations()).toEqual({ QueryCommand: 1, SendMessageCommand: 1, PutItemCommand: 1 });
  });

  it('is kept as long as its new time requires, with its body', async () => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '1m' });
    const expiry = async () =>
      (await fixture.loadMessage({ accountId: laneFixture.account.id, messageId }))?.message.expiresAt ?? 0;
    const before = await expiry();
    await change(laneFixture, messageId, { delay: '300d' });
    expect(await expiry()).toBeGreaterThanOrEqual(before + 299 * dayMs);
  });

  it('is delivered once if two change it at once, according to one of them', async () => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '1h' });
    await Promise.all(['2m', '3m', '4m'].map((delay) => change(laneFixture, messageId, { delay })));
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('of a queue changes its delivery queue by its timeout before its turn, and not after', async () => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const config = { delay: '1m', timeout: '20s', retries: '1', 'retry-delay': '3600000' };
    const messageId = await laneFixture.send(inbox.url, config, 'turns');
    await change(laneFixture, messageId, { timeout: '60s' });
    await laneFixture.fleet.advance(2 * minuteMs);
    await expect(change(laneFixture, messageId, { timeout: '20s' })).rejects.toMatchObject({ status: 409 });
    await change(laneFixture, messageId, { timeout: '50s', delay: '1m' });
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
    await laneFixture.settle();
  });

  const survives = (body: object, latestMs: number) => async (fate: Parameters<Fixture['again']>[0]) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '30m' });
    await fixture.underFate(fate, () => change(laneFixture, messageId, body));
    fixture.reset();
    await laneFixture.fleet.advance(latestMs);
    expect(inbox.deliveries).toHaveLength(1);
  };
  itAtEachDeath('is delivered once where its change to earlier dies', survives({ delay: '1m' }, hourMs));
  itAtEachDeath('is delivered once where its change to later dies', survives({ delay: '2h' }, 3 * hourMs));

  itAtEachDeath('is delivered once, as its last change says, where that is sent again', async (fate) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '30m' });
    await fixture.again(fate, () => change(laneFixture, messageId, { delay: '2h' }));
    fixture.reset();
    await laneFixture.fleet.advance(2 * hourMs - minuteMs);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
  });
});

describe('a waiting retry', () => {
  async function waiting() {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const callback = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, {
      retries: '2',
      'retry-delay': '3600000',
      callback: callback.url,
    });
    await laneFixture.fleet.advance(minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    return { laneFixture, inbox, callback, messageId };
  }

  it.each([
    ['earlier', '1m', minuteMs],
    ['later', '3h', 3 * hourMs],
  ] as const)('is moved %s, and made once', async (_, delay, inMs) => {
    const { laneFixture, inbox, callback, messageId } = await waiting();
    await change(laneFixture, messageId, { delay });
    await laneFixture.fleet.advance(inMs - 2 * secondMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.fleet.advance(4 * secondMs);
    expect(inbox.deliveries).toHaveLength(2);
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(2);
    expect(callback.deliveries).toHaveLength(2);
  });

  it('is made once if only its labels are changed', async () => {
    const { laneFixture, inbox, messageId } = await waiting();
    await change(laneFixture, messageId, { label: 'changed' });
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(2);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
  });

  it('is cancelled with its message', async () => {
    const { laneFixture, inbox, messageId } = await waiting();
    await change(laneFixture, messageId, { delay: '2h' });
    const { cancelMessage } = await import('../../../lambdas/publish/cancel.ts');
    await cancelMessage(laneFixture.account, messageId);
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });
});
