import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import type { Message } from '../../../lambdas/message/message.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import type { Filter } from '../../../lambdas/wire/filters.ts';
import { imported } from '../../support/imported.ts';
import { messageOf } from '../../support/messageOf.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/audit/audited.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
  ...(await import('../../../lambdas/waiting/save.ts')),
  ...(await import('../../../lambdas/waiting/upcoming.ts')),
}));

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const noon = Date.parse('2026-11-20T12:00:00Z');
const setTime = (time: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
};

let account: Account;
beforeEach(() => {
  setTime(noon);
  account = newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0 });
});

const body = { at: 'here', bytes: new Uint8Array(), deflated: false } as const;

async function store(notBefore: number): Promise<Message> {
  const message = messageOf({
    messageId: newId('msg', Date.now()),
    accountId: account.id,
    createdAt: Date.now(),
    notBefore,
    expiresAt: noon + 99 * dayMs,
  });
  await lambdas.putMessage(message, body);
  return message;
}

async function storeAll(near: number, far: number): Promise<readonly [near: Message, far: Message]> {
  for (const between of [1, 2]) await store(near + between);
  return [await store(near), await store(far)];
}

const filter: Filter = {
  ...{ ids: undefined, count: 1, cursor: undefined, order: undefined },
  ...{ fromDate: undefined, toDate: undefined, values: new Map() },
};
const all = { fromDate: undefined, toDate: undefined, steps: undefined };
/** The messages of a page are read again, but not those after it. */
const firstWith = async (list: typeof lambdas.listUpcoming): Promise<string | undefined> => {
  const { messages, isWhole, count } = await list(account, filter, all);
  expect([isWhole, count]).toEqual([true, 4]);
  return messages[0]?.messageId;
};
const firstNow = () => firstWith(lambdas.listUpcoming);

const begin = (subject: string) =>
  lambdas.beginChange(account, { actor: 'token', action: 'message.change', subject });
const move = (message: Message, dueAt: number) =>
  lambdas.replaceMessage(message, { ...message, change: { id: 'c', dueAt: { 0: dueAt } } }, body);

describe('upcoming messages that another process changes', () => {
  it('move, even if the change is written long after its entry', async () => {
    const [near, far] = await storeAll(noon + dayMs, noon + 9 * dayMs);
    expect(await firstNow()).toBe(near.messageId);
    await begin(far.messageId);
    setTime(noon + 20_000);
    expect(await firstNow()).toBe(near.messageId);
    setTime(noon + 28_000);
    expect(await move(far, noon + dayMs - 1)).toBe(true);
    setTime(noon + 30_000);
    expect(await firstNow()).toBe(far.messageId);
  });

  it('move although neither was looked at for days', async () => {
    const [near, far] = await storeAll(noon + 20 * dayMs, noon + 30 * dayMs);
    expect(await firstNow()).toBe(near.messageId);
    setTime(noon + 3 * dayMs);
    await begin(far.messageId);
    await move(far, noon + 5 * dayMs);
    setTime(noon + 4 * dayMs);
    expect(await firstNow()).toBe(far.messageId);
  });

  it('are known to a process that starts from what was saved before', async () => {
    const [, far] = await storeAll(noon + 2 * dayMs, noon + 9 * dayMs);
    expect(await lambdas.saveOpenMessages(account, noon + minuteMs)).toBe(true);
    setTime(noon + 60 * minuteMs);
    await begin(far.messageId);
    await move(far, noon + dayMs);
    setTime(noon + 120 * minuteMs);
    vi.resetModules();
    const { listUpcoming } = await import('../../../lambdas/waiting/upcoming.ts');
    expect(await firstWith(listUpcoming)).toBe(far.messageId);
  });

  it('are not whole while the time is too short', async () => {
    await store(noon + dayMs);
    const clock = vi.spyOn(Date, 'now');
    let time = noon;
    clock.mockImplementation(() => (time += 10_000));
    const { isWhole, count } = await lambdas.listUpcoming(account, filter, all);
    clock.mockRestore();
    expect([isWhole, count]).toEqual([false, undefined]);
  });
});
