import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { headerBytes } from '../../../lambdas/shared/headers.ts';
import { makeAccount, manage, type AccountRecord } from '../../support/accounts.ts';
import { api, ok, query, unique } from '../../support/api.ts';
import { call, publish, refusalOf, type Answer } from '../../support/publish.ts';
import { startReceiver, type Inbox, type Receiver } from '../../support/receiver.ts';

/**
 * An attacker has a token for one destination, and gives the ids that other programs of the account use: for messages that
 * replace or repeat each other, for lines, and for runs. The others' messages and runs must stay as they are.
 */

let receiver: Receiver;
let account: AccountRecord;
let bank: Inbox;
let own: Inbox;
let limited: { readonly token: string; readonly id: string };

const made = z.object({ token: z.string(), id: z.string() });
const accepted = z.object({ messageId: z.string() });

async function makeToken(destinations: readonly string[]): Promise<typeof limited> {
  const body = { name: 'leaked', scope: 'publish', destinations };
  return made.parse((await manage('POST', `/v2/svc/users/${account.id}/tokens`, { body })).json);
}

beforeAll(async () => {
  [receiver, account] = await Promise.all([startReceiver(), makeAccount()]);
  own = receiver.inbox();
  bank = receiver.inbox();
  limited = await makeToken([own.url, 'group:sharedgroup']);
  const endpoints = [{ url: own.url }];
  await ok(api('POST', '/v2/topics/sharedgroup/endpoints', { token: account.token, body: { endpoints } }));
});
afterAll(() => receiver.close());

const arrived = async (inbox: Inbox, body: string): Promise<void> => {
  await inbox.until((deliveries) => deliveries.some((one) => one.body.toString() === body));
};

/** Ids that turn several messages into one, with the headers that they need. */
const ids: readonly (readonly [name: string, headers: (id: string) => Readonly<Record<string, string>>])[] = [
  ['a deduplication id', (id) => ({ 'Svc-Deduplication-Id': id })],
  ['a debounce id', (id) => ({ 'Svc-Debounce-Id': id, 'Svc-Debounce': '1s' })],
];

describe.each(ids)('%s of a token for one destination', (_name, headersOf) => {
  it.each([
    ['before', true],
    ['after', false],
  ])('does not affect a message of the same id that was published %s it', async (_order, isSecond) => {
    const headers = headersOf(headerBytes(unique('東京')));
    const [mine, theirs] = [unique('mine'), unique('theirs')];
    const attack = () => publish(own.url, { token: limited.token, headers, body: mine });
    const pay = () => publish(bank.url, { token: account.token, headers, body: theirs });
    const [first, second] = isSecond ? [await pay(), await attack()] : [await attack(), await pay()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(accepted.parse(second.json).messageId).not.toBe(accepted.parse(first.json).messageId);
    await Promise.all([arrived(own, mine), arrived(bank, theirs)]);
  });

  it('still makes one message of those that the token publishes, and not of another token’s', async () => {
    const headers = headersOf(unique('id'));
    const other = await makeToken([own.url]);
    const sent = async ({ token }: typeof limited) =>
      accepted.parse((await publish(own.url, { token, headers, body: 'x' })).json).messageId;
    const [first, again, fromOther] = [await sent(limited), await sent(limited), await sent(other)];
    expect(again).toBe(first);
    expect(fromOther).not.toBe(first);
  });
});

it('suppresses no equal message to the same destination', async () => {
  const body = unique('content');
  const headers = { 'Svc-Content-Based-Deduplication': 'true' };
  const delayed = { ...headers, 'Svc-Delay': '7d' };
  expect((await publish(own.url, { token: limited.token, headers: delayed, body })).status).toBe(200);
  expect((await publish(own.url, { token: account.token, headers, body })).status).toBe(200);
  await arrived(own, body);
});

describe('a flow-control key of a token for one destination', () => {
  const shownKey = (key: string) =>
    api('GET', `/v2/flowControl/${encodeURIComponent(key)}`, { token: account.token });
  const flowControl = (key: string, value: string, before = '') => ({
    [`Svc-${before}Flow-Control-Key`]: key,
    [`Svc-${before}Flow-Control-Value`]: value,
  });
  const strictest = 'parallelism=1,rate=1,period=7d';

  it('is the token’s own: it joins no other line, and changes no other limits', async () => {
    const name = unique('東京');
    const key = headerBytes(name);
    const headers = flowControl(key, 'parallelism=7');
    await ok(publish(bank.url, { token: account.token, headers, body: 'x' }));
    const forged = [
      { ...flowControl(key, strictest) },
      { ...flowControl(key, strictest, 'Callback-'), 'Svc-Callback': own.url },
      { ...flowControl(key, strictest, 'Failure-Callback-'), 'Svc-Failure-Callback': own.url },
    ];
    for (const given of forged) {
      await ok(publish(own.url, { token: limited.token, headers: { ...given, 'Svc-Delay': '1s' } }));
      expect((await shownKey(name)).json).toMatchObject({ parallelismMax: 7 });
      expect((await shownKey(name)).json).not.toHaveProperty('rateMax', 1);
    }
    const trigger = { token: limited.token, headers: { ...flowControl(key, strictest), 'Svc-Delay': '1h' } };
    await ok(api('POST', `/v2/trigger/${own.url}`, trigger));
    expect((await shownKey(name)).json).toMatchObject({ parallelismMax: 7 });
    expect((await shownKey(`${limited.id}:${name}`)).json).toMatchObject({ parallelismMax: 1, rateMax: 1 });
  });

  it('is the group’s if the group has one, whose limits it cannot change', async () => {
    const key = unique('key');
    const headers = flowControl(key, 'parallelism=7');
    await ok(api('PATCH', '/v2/topics/sharedgroup', { token: account.token, body: { headers } }));
    const body = unique('body');
    await ok(publish('sharedgroup', { token: limited.token, body }));
    await arrived(own, body);
    expect((await shownKey(key)).json).toMatchObject({ parallelismMax: 7 });
    const value = { 'Svc-Flow-Control-Value': strictest };
    const refused = await publish('sharedgroup', { token: limited.token, headers: value });
    expect([refused.status, refusalOf(refused).error]).toEqual([
      400,
      expect.stringContaining('Svc-Flow-Control-Value is given without'),
    ]);
    expect((await shownKey(key)).json).toMatchObject({ parallelismMax: 7 });
  });
});

describe('a run’s id of a token for one destination', () => {
  const started = z.object({ workflowRunId: z.string(), workflowCreatedAt: z.number() });
  const trigger = (to: Inbox, runId: string, token: string, headers = {}): Promise<Answer> =>
    api('POST', `/v2/trigger/${to.url}`, {
      token,
      headers: { 'Upstash-Workflow-RunId': runId, 'Svc-Delay': '1h', ...headers },
    });
  const upgrade = { 'Upstash-Workflow-Init': 'true', 'Upstash-Workflow-Trigger-By-Sdk': 'true' };
  const stateOf = async (runId: string): Promise<unknown> =>
    (await api('GET', `/v2/workflows/logs${query({ workflowRunId: runId })}`, { token: account.token })).json;

  it('neither joins, replaces nor shows another’s run, active or ended', async () => {
    const runId = unique('wfr_order');
    started.parse(await ok(trigger(bank, runId, account.token)));
    const before = await stateOf(runId);
    const forged = [
      () => trigger(own, runId, limited.token),
      () =>
        call(`/v2/publish/${own.url}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${limited.token}`,
            'Upstash-Workflow-RunId': runId,
            'Upstash-Workflow-Url': own.url,
            'Upstash-Workflow-Sdk-Version': '1',
            ...upgrade,
          },
          body: '{}',
        }),
    ];
    const refuseAll = async () => {
      for (const attack of forged) {
        const refused = await attack();
        expect([403, 412]).toContain(refused.status);
        expect(refusalOf(refused).error).toContain('the token may only publish to');
        expect(JSON.stringify(refused.json)).not.toContain('msg_');
      }
    };
    await refuseAll();
    expect(await stateOf(runId)).toEqual(before);
    await ok(api('DELETE', `/v2/workflows/runs/${runId}`, { token: account.token }));
    await refuseAll();
  });

  it('is not taken for another’s start: that one is refused and names the token', async () => {
    const runId = unique('wfr_order');
    const other = await makeToken([own.url, bank.url]);
    const first = started.parse(await ok(trigger(own, runId, limited.token)));
    for (const token of [account.token, other.token]) {
      const refused = await trigger(bank, runId, token);
      expect([refused.status, refusalOf(refused).error]).toEqual([403, expect.stringContaining(limited.id)]);
    }
    // If the token itself repeats its start, that is a duplicate, as before.
    expect(await ok(trigger(own, runId, limited.token))).toMatchObject({ ...first, deduplicated: true });
    await ok(api('DELETE', `/v2/workflows/runs/${runId}`, { token: account.token }));
    started.parse(await ok(trigger(bank, runId, account.token)));
  });
});
