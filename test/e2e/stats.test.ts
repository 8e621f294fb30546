import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import * as answers from '../../lambdas/wire/accountAnswers.ts';
import { laneTimes } from '../../lambdas/wire/statsAnswers.ts';
import { limitsOf } from '../../lambdas/account/account.ts';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok, query, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { enqueue, send } from '../support/lanes.ts';
import { messageIdOf, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Stats = z.infer<typeof answers.ownStats>;
type Tokens = Pick<AccountRecord, 'token' | 'read_only_token'>;

async function statsOf({ token }: Pick<Tokens, 'token'>): Promise<Stats> {
  const answer = await api('GET', '/v2/stats', { token });
  checkAnswer('GET /v2/stats', answer);
  return answers.ownStats.parse(answer.json);
}

const outcomes = ['accepted', 'delivered', 'failed', 'cancelled'] as const;
type Outcomes = Record<(typeof outcomes)[number], number>;

const none: Outcomes = { accepted: 0, delivered: 0, failed: 0, cancelled: 0 };

/** A test may run past the end of an hour or a day. */
function sumOf(parts: readonly Partial<Outcomes>[]): Outcomes {
  const sum = { ...none };
  for (const part of parts) for (const outcome of outcomes) sum[outcome] += part[outcome] ?? 0;
  return sum;
}

const hasEnded =
  (count: number) =>
  ({ days }: Stats): boolean => {
    const { delivered, failed, cancelled } = sumOf(days);
    return delivered + failed + cancelled >= count;
  };

const failing = (): string =>
  receiver.inbox((_, response) => {
    response.statusCode = 500;
    response.end();
  }).url;

const hourMs = 3_600_000;

describe('the statistics of an account', () => {
  it('count each message as accepted, and once by its outcome, by hour and by day', async () => {
    const account = await makeAccount();
    const inbox = receiver.inbox();
    const broken = failing();
    for (const body of ['1', '2', '3']) messageIdOf(await publishAs(account, inbox.url, { body }));
    const retried = { 'Svc-Retries': '1', 'Svc-Retry-Delay': '10' };
    for (const body of ['4', '5']) messageIdOf(await publishAs(account, broken, { body, headers: retried }));
    const later = { 'Svc-Delay': '1h' };
    const waiting = messageIdOf(await publishAs(account, inbox.url, { headers: later }));
    const cancelled = messageIdOf(await publishAs(account, inbox.url, { headers: later }));
    await ok(api('DELETE', `/v2/messages/${cancelled}`, { token: account.token }));

    // A message counts as failed shortly before its dead letter exists.
    const shown = await eventually(
      () => statsOf(account),
      (stats) => hasEnded(6)(stats) && stats.deadLetters === 2,
    );
    const expected: Outcomes = { accepted: 7, delivered: 3, failed: 2, cancelled: 1 };
    expect(sumOf(shown.hours)).toEqual(expected);
    expect(sumOf(shown.days)).toEqual(expected);
    expect(shown.days.at(-1)).toMatchObject(shown.today);
    expect(shown.countedUntil).toBeUndefined();

    await ok(api('DELETE', `/v2/messages/${waiting}`, { token: account.token }));
    const after = await eventually(() => statsOf(account), hasEnded(7));
    expect(sumOf(after.hours)).toEqual({ ...expected, cancelled: 2 });
  });

  it('show the account, its limits and its budget', async () => {
    const account = await makeAccount({ max_queues: 7, budget: 20 });
    const shown = await statsOf(account);
    expect(shown.access).toBe('write');
    expect((await statsOf({ token: account.read_only_token })).access).toBe('read');
    const { deployment, ...own } = shown.account;
    expect(deployment).not.toBe('');
    expect(own).toEqual({
      id: account.id,
      customer_id: 'test@example.com',
      type: 'paid',
      region: service.region,
    });
    expect(shown.limits).toEqual(limitsOf({ plan: 'paid', limits: { max_queues: 7 } }));
    expect(shown.month).toEqual({ messages: 0, bytes: 0, cost: 0, budget: 20 });
  });

  it('include what needs attention, answer times of hosts, and the last hour', async () => {
    const account = await makeAccount();
    const broken = failing();
    const { host } = new URL(broken);
    const headers = { 'Svc-Retries': '0' };
    messageIdOf(await publishAs(account, broken, { headers }));
    const lastHour = z.object({ lastHour: z.array(z.object({ failed: z.number() })) });
    const shown = await eventually(() => statsOf(account), hasEnded(1));
    expect(lastHour.parse(shown).lastHour.reduce((sum, { failed }) => sum + failed, 0)).toBe(1);
    const attention = await api('GET', '/v2/stats/attention', { token: account.read_only_token });
    checkAnswer('GET /v2/stats/attention', attention);
    expect(attention.json).toMatchObject({ deadLetters: 1, failedRuns: 0, hostsDown: [], isWhole: true });
    const hosts = await api('GET', '/v2/stats/hosts', { token: account.read_only_token });
    checkAnswer('GET /v2/stats/hosts', hosts);
    expect(hosts.json).toMatchObject({ attempts: 1, hosts: [{ host, attempts: 1, failures: 1 }] });
  });

  it.each([
    { of: 'queue', asked: (name: string) => ({ queueName: name }) },
    { of: 'flow-control key', asked: (name: string) => ({ flowControlKey: name }) },
  ])('show by hour how many waited in a $of, and its attempts', async ({ of, asked }) => {
    const name = unique('over/time').replace('/', of === 'queue' ? '-' : '/');
    const { token } = await makeAccount();
    const headers = { 'Svc-Flow-Control-Key': name, 'Svc-Flow-Control-Value': 'parallelism=1' };
    const post = (url: string) =>
      of === 'queue' ? enqueue(name, url, { token }) : send(url, { token, headers });
    let letGo = (): void => undefined;
    const held = receiver.inbox((_, response) => {
      letGo = () => response.end();
    });
    const inbox = receiver.inbox();
    await post(held.url);
    await held.received(1);
    for (let number = 0; number < 3; number += 1) await post(inbox.url);
    letGo();
    await inbox.received(3);
    const read = async () => {
      const answer = await api('GET', `/v2/stats/lanes${query(asked(name))}`, { token });
      checkAnswer('GET /v2/stats/lanes', answer);
      return laneTimes.parse(answer.json).hours;
    };
    const sumOfAttempts = (hours: Awaited<ReturnType<typeof read>>): number =>
      hours.reduce((sum, { attempts = 0 }) => sum + attempts, 0);
    const hours = await eventually(read, (all) => sumOfAttempts(all) === 4);
    expect(hours).toHaveLength(24);
    expect(hours.reduce((sum, { failures = 0 }) => sum + failures, 0)).toBe(0);
    expect(Math.max(...hours.map(({ depth }) => depth))).toBe(3);
    expect(hours.slice(0, 22).every(({ depth, attempts }) => depth === 0 && attempts === 0)).toBe(true);
    hours.slice(1).forEach(({ from }, index) => {
      expect(from - (hours[index]?.from ?? 0)).toBe(hourMs);
    });
    await post(inbox.url);
    await eventually(read, (all) => sumOfAttempts(all) === 5);
  });

  it.each([
    ['', 400, 'queueName and flowControlKey are missing; allowed is one of them.'],
    ['?queueName=nothing', 404, 'There is no queue "nothing".'],
    ['?flowControlKey=nothing', 404, 'There is no flow-control key "nothing".'],
  ])('refuse lanes by %s with %i', async (text, status, sentence) => {
    await expectRefusal(api('GET', `/v2/stats/lanes${text}`), status, sentence);
  });
});
