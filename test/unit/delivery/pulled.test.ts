import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { setClockAhead } from '../../support/clockAhead.ts';
import { Fate, itAtEachDeath } from '../../support/faults.ts';
import type { Fixture } from '../../support/fixture.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';

const importPulling = async () => ({
  ...(await import('../../../lambdas/delivery/pulled.ts')),
  ...(await import('../../../lambdas/delivery/extend.ts')),
  ...(await import('../../../lambdas/delivery/complete.ts')),
  ...(await import('../../../lambdas/delivery/store/offers.ts')),
});

let fixture: Fixture;
let lambdas: LaneLambdas & Awaited<ReturnType<typeof importPulling>>;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = { ...(await importLaneLambdas()), ...(await importPulling()) };
});
beforeEach(() => {
  fixture.reset();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fixture.drain();
});

const hourMs = 3_600_000;
const load = async (messageId: string) => {
  const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
  if (history === undefined) throw new Error('The message is not there.');
  return history;
};
const take = async (name: string) =>
  (await lambdas.takeAll(fixture.account, { name, count: 10, waitMs: 0, withinMs: hourMs })).messages;
const complete = async (completion: string, status = 200) =>
  lambdas.completeAttempt(await lambdas.namedBy(completion), { status, headers: [], body: new Uint8Array() });
const send = (name: string, config: Readonly<Record<string, string>> = {}) =>
  fixture.send(`pull:${name}`, { retries: '1', 'retry-delay': '0', ...config });

/** Lets the time of the present attempt end, and does what follows. */
async function pass(ms: number): Promise<void> {
  await fixture.drain();
  setClockAhead(ms);
}

async function endTime(messageId: string): Promise<void> {
  const { open } = await load(messageId);
  if (open === undefined) return;
  const { endJobOf } = await import('../../../lambdas/job/openAttempt.ts');
  await fixture.perform(endJobOf({ accountId: fixture.account.id, messageId }, open), { isAgain: false });
  await fixture.doJobs();
}

describe('the calls of a message to a name', () => {
  it('are counted', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const { name } = new Fate();
    // A process’s first attempt takes slots of the account for later ones.
    await fixture.send(fixture.receiver.inbox().url);
    await fixture.doJobs();
    await send(name);
    const { job } = await fixture.receiveAttempt();
    fixture.reset();
    await fixture.deliver(job, false);
    // The open attempt and its offer.
    expect(fixture.operations()).toMatchObject({ QueryCommand: 2, PutItemCommand: 2 });
    fixture.reset();
    const [one] = await take(name);
    expect(fixture.operations()).toMatchObject({
      QueryCommand: 2,
      UpdateItemCommand: 1,
      DeleteItemCommand: 1,
    });
    fixture.reset();
    await complete(one?.completion ?? '');
    expect(fixture.operations()).toEqual({ QueryCommand: 1, PutItemCommand: 1, SendMessageCommand: 1 });
    fixture.reset();
    expect(await take(name)).toEqual([]);
    expect(fixture.operations()).toEqual({ QueryCommand: 1 });
  });
});

describe('a line of 1,000 offers', () => {
  let name = '';
  let messageId = '';
  let message: Awaited<ReturnType<typeof load>>['message'];
  beforeEach(async () => {
    ({ name } = new Fate());
    messageId = await send(name);
    await fixture.doJobs();
    ({ message } = await load(messageId));
  });

  /** Offers without messages: a look at any of them would remove it. */
  const offerMany = (startedAt: number) =>
    Promise.all(
      Array.from({ length: 1_000 }, (_, number) =>
        lambdas.putOffer(
          { ...message, labels: ['東京'], messageId: `msg_${number}` },
          { number: 0, startedAt: startedAt + number, until: startedAt + hourMs },
        ),
      ),
    );
  const loadAccount = async () => (await fixture.loadAccount(fixture.account.id, true)) ?? fixture.account;
  const takeOne = async (waitMs: number) => {
    const account = await loadAccount();
    fixture.reset();
    const { messages } = await lambdas.takeAll(account, { name, count: 1, waitMs, withinMs: hourMs });
    return messages.map((one) => one.messageId);
  };

  it('is read no further than what was asked for', async () => {
    await offerMany(Date.now() + hourMs);
    expect(await takeOne(0)).toEqual([messageId]);
    // The first offers, and the message of one.
    expect(fixture.operations()).toMatchObject({ QueryCommand: 2, DeleteItemCommand: 1 });
  });

  it.each(['host', 'account'] as const)('is not read while its %s is held', async (kind) => {
    await offerMany(Date.now() + hourMs);
    const which = kind === 'host' ? `pull:${name}` : '';
    await lambdas.hold({ account: await loadAccount() }, kind, which, Buffer.from('{}'));
    onTestFinished(async () => void (await lambdas.release(await loadAccount(), kind, which)));
    expect(await takeOne(3_000)).toEqual([]);
    // The hold at once, and after 0.5, 1.5 and 3 s; a timer may fire a moment early.
    const { GetItemCommand: looks, ...others } = fixture.operations();
    expect(looks).toBeLessThanOrEqual(5);
    expect(others).toEqual({});
  });

  it('with a held label lets others pass, and no held message is read', async () => {
    await offerMany(Date.now() - hourMs);
    await lambdas.hold({ account: await loadAccount() }, 'label', '東京', Buffer.from('{}'));
    expect(await takeOne(0)).toEqual([messageId]);
    // 20, 40, 80, 160, 320 and 640 offers, and the one message.
    expect(fixture.operations()).toMatchObject({ GetItemCommand: 1, QueryCommand: 7, DeleteItemCommand: 1 });
    expect(await takeOne(0)).toEqual([]);
    expect(fixture.operations()).toEqual({ GetItemCommand: 1, QueryCommand: 6 });
  });
});

describe('a process that dies at any of its AWS calls', () => {
  itAtEachDeath('while it offers a message leaves it to be taken', async (fate) => {
    const messageId = await send(fate.name, {
      'flow-control-key': fate.name,
      'flow-control-value': 'parallelism=1',
    });
    await fixture.doJobs(fate);
    const taken = await take(fate.name);
    expect(taken.map((one) => [one.messageId, one.retried])).toEqual([[messageId, 0]]);
    await complete(taken[0]?.completion ?? '');
    await fixture.doJobs();
    expect((await load(messageId)).attempts.map(({ state }) => state)).toEqual(['DELIVERED']);
    expect(await take(fate.name)).toEqual([]);
  });

  itAtEachDeath(
    'while it gives a message to a client leaves it to others, or to the end of its time',
    async (fate) => {
      const messageId = await send(fate.name);
      await fixture.doJobs();
      await fixture.underFate(fate, () => take(fate.name));
      const others = await take(fate.name);
      expect(others.length).toBeLessThanOrEqual(1);
      if (others.length === 0) {
        await pass(2 * hourMs);
        await endTime(messageId);
        const { attempts, open } = await load(messageId);
        expect(attempts.map(({ state }) => state)).toEqual(['RETRY']);
        expect(open).toMatchObject({ number: 1, isOffered: true });
        expect((await take(fate.name)).map(({ retried }) => retried)).toEqual([1]);
      }
    },
  );

  itAtEachDeath('while it gives an attempt more time leaves it with the old or the new end', async (fate) => {
    const messageId = await send(fate.name);
    await fixture.doJobs();
    const [one] = await take(fate.name);
    await fixture.underFate(fate, () => lambdas.extend(one?.completion ?? '', 3 * hourMs));
    await pass(2 * hourMs);
    await endTime(messageId);
    const { open } = await load(messageId);
    if (open?.number === 0) {
      expect(open.until).toBeGreaterThan(Date.now());
      await pass(4 * hourMs);
      await endTime(messageId);
    }
    expect((await load(messageId)).open).toMatchObject({ number: 1, isOffered: true });
  });
});

describe('an offered message', () => {
  it('fails if no client takes it in a week, or in its own time', async () => {
    const { name } = new Fate();
    const [usual, short] = [await send(name), await send(name, { deferred: '1h' })];
    await fixture.doJobs();
    await pass(2 * hourMs);
    await endTime(short);
    expect((await load(short)).attempts[0]?.response.error).toBe('No client took the message within 1h.');
    expect((await load(usual)).attempts).toEqual([]);
    await pass(170 * hourMs);
    await endTime(usual);
    expect((await load(usual)).attempts[0]?.response.error).toBe('No client took the message within 7d.');
  });

  it('is taken although the clock has stepped back by a day', async () => {
    const { name } = new Fate();
    const messageId = await send(name);
    await fixture.doJobs();
    setClockAhead(-24 * hourMs);
    const [one] = await take(name);
    expect(one?.messageId).toBe(messageId);
    await complete(one?.completion ?? '');
    await fixture.doJobs();
    expect((await load(messageId)).attempts.map(({ state }) => state)).toEqual(['DELIVERED']);
  });

  it('is offered once by a job that SQS delivers again, also after it was taken', async () => {
    const { name } = new Fate();
    await send(name);
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    await fixture.deliver(job, true);
    expect(await take(name)).toHaveLength(1);
    await fixture.deliver(job, true);
    expect(await take(name)).toEqual([]);
  });
});
