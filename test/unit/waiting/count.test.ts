import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import type { Attempt, Message } from '../../../lambdas/message/message.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { imported } from '../../support/imported.ts';
import { messageOf } from '../../support/messageOf.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/waiting/count.ts')),
  ...(await import('../../../lambdas/waiting/save.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
}));

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const noon = Date.parse('2026-11-20T12:00:00Z');
const setTime = (time: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
};

let account: Account;
beforeEach(() => {
  setTime(noon);
  account = newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0 });
});

/** Stores a message. Its id may be older than its row. */
async function store(more: Partial<Message> = {}, idTime = Date.now()): Promise<Message> {
  const message = messageOf({
    messageId: newId('msg', idTime),
    accountId: account.id,
    createdAt: Date.now(),
    expiresAt: noon + 1_000 * minuteMs,
    ...more,
  });
  await lambdas.putMessage(message, { at: 'here', bytes: new Uint8Array(), deflated: false });
  return message;
}

const record = (message: Message, number: number, state: Attempt['state'], recordedAt = Date.now()) =>
  lambdas.recordAttempt(message, {
    number,
    state,
    startedAt: recordedAt,
    recordedAt,
    response: { status: 500, headers: [], body: new Uint8Array() },
    ...(state === 'RETRY' && { nextDeliveryAt: recordedAt + minuteMs }),
  });

const open = (message: Message, number: number) =>
  lambdas.noteOpen(message, { number, startedAt: Date.now(), until: Date.now() + minuteMs }, Date.now());

const countNow = (until = Date.now() + minuteMs) =>
  lambdas.countWaiting(account, { values: new Map() }, until);
const none = { delayed: 0, waiting: 0, retrying: 0, open: 0 };

describe('waiting messages', () => {
  it('pass each state once, whenever and however often they are counted', async () => {
    const message = await store({ notBefore: noon + minuteMs });
    for (let times = 0; times < 3; times += 1) expect(await countNow()).toEqual({ ...none, delayed: 1 });
    setTime(noon + minuteMs - 1);
    expect(await countNow()).toEqual({ ...none, delayed: 1 });
    setTime(noon + minuteMs);
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    await record(message, 0, 'RETRY');
    for (let times = 0; times < 3; times += 1) expect(await countNow()).toEqual({ ...none, retrying: 1 });
    setTime(noon + 2 * minuteMs);
    await open(message, 1);
    for (let minute = 2; minute < 12; minute += 1) {
      setTime(noon + minute * minuteMs);
      expect(await countNow()).toEqual({ ...none, open: 1 });
    }
    await record(message, 1, 'FAILED');
    for (let times = 0; times < 3; times += 1) expect(await countNow()).toEqual(none);
  });

  it('are not counted below 0 by an attempt in flight that ends after the cancellation', async () => {
    const message = await store();
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    await lambdas.endMessage(message, 'CANCELED', Date.now());
    expect(await countNow()).toEqual(none);
    await record(message, 0, 'DELIVERED');
    expect(await countNow()).toEqual(none);
    await store();
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
  });

  it.each(['REJECTED', 'CANCELED'] as const)('do not include one that was %s', async (end) => {
    const message = await store();
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    await lambdas.endMessage(message, end, Date.now());
    expect(await countNow()).toEqual(none);
  });

  it('are counted within five minutes if their rows are stored up to two minutes late', async () => {
    const early = await store();
    await countNow();
    setTime(noon + 90 * secondMs);
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    await store({}, noon);
    await record(early, 0, 'DELIVERED', noon + secondMs);
    setTime(noon + 6 * minuteMs);
    await countNow();
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
  });

  it('include a retried one whose id is older than the last count', async () => {
    await countNow();
    setTime(noon + 30 * minuteMs);
    await countNow();
    const late = await store({}, noon);
    await record(late, 0, 'RETRY');
    expect(await countNow()).toEqual({ ...none, retrying: 1 });
    await record(late, 1, 'DELIVERED');
    expect(await countNow()).toEqual(none);
  });

  it('are counted on by the next request if the time was too short', async () => {
    const ended = await store();
    for (let stored = 1; stored < 5; stored += 1) await store({}, noon - stored * minuteMs);
    expect(await countNow(noon - 1)).toBeUndefined();
    await record(ended, 0, 'DELIVERED');
    expect(await countNow()).toEqual({ ...none, waiting: 4 });
  });

  it('are counted after the clock was set back', async () => {
    await store();
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    setTime(noon - 60 * minuteMs);
    await store();
    setTime(noon - 30 * minuteMs);
    expect(await countNow()).toEqual({ ...none, waiting: 2 });
    setTime(noon + minuteMs);
    expect(await countNow()).toEqual({ ...none, waiting: 2 });
  });

  it('are read from what another process has saved, and from what was recorded since', async () => {
    const [first, second] = [await store({ labels: ['東京'] }), await store()];
    setTime(noon + 30 * minuteMs);
    await record(first, 0, 'RETRY');
    expect(await lambdas.saveOpenMessages(account, Date.now() + minuteMs)).toBe(true);
    await store();
    await record(second, 0, 'DELIVERED');
    vi.resetModules();
    const other = await import('../../../lambdas/waiting/count.ts');
    const counted = (values: Parameters<typeof other.countWaiting>[1]['values'] = new Map()) =>
      other.countWaiting(account, { values }, Date.now() + minuteMs);
    expect(await counted()).toEqual({ ...none, waiting: 1, retrying: 1 });
    expect(await counted(new Map([['label', new Set(['東京'])]]))).toEqual({ ...none, retrying: 1 });
    setTime(noon + 48 * 60 * minuteMs);
    vi.resetModules();
    const later = await import('../../../lambdas/waiting/count.ts');
    expect(await later.countWaiting(account, { values: new Map() }, Date.now() + minuteMs)).toEqual(none);
  });

  it('do not include those that expired', async () => {
    await store({ expiresAt: noon + minuteMs });
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
    setTime(noon + minuteMs);
    expect(await countNow()).toEqual(none);
  });

  it('are those of the account', async () => {
    await store();
    await store({ accountId: randomUUID() });
    expect(await countNow()).toEqual({ ...none, waiting: 1 });
  });
});
