import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { minuteMs } from '../../../lambdas/shared/clock.ts';
import { shardCounts } from '../../../lambdas/shared/ids.ts';
import { alarmMessage } from '../../../lambdas/wire/alarms.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useFixture } from '../../support/useFixture.ts';

/** Tests the regular check of accounts with alarms: its alarms, frequency and cost. */

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [look, alarms, rows, publish, letters, dead, schedules, fires, attention, list, usage, cancel] =
    await Promise.all([
      import('../../../lambdas/alarm/look.ts'),
      import('../../../lambdas/alarm/alarms.ts'),
      import('../../../lambdas/alarm/store/rows.ts'),
      import('../../../lambdas/publish/publish.ts'),
      import('../../../lambdas/deadLetter/size.ts'),
      import('../../../lambdas/statistics/attention.ts'),
      import('../../../lambdas/schedule/schedules.ts'),
      import('../../../lambdas/schedule/rows.ts'),
      import('../../../lambdas/statistics/hostTimes.ts'),
      import('../../../lambdas/shared/lists.ts'),
      import('../../../lambdas/usage/usageRows.ts'),
      import('../../../lambdas/publish/cancel.ts'),
    ]);
  return {
    ...look,
    ...alarms,
    ...rows,
    ...publish,
    ...letters,
    ...dead,
    ...schedules,
    ...fires,
    ...attention,
    ...list,
    ...usage,
    ...cancel,
  };
}

let unitsRead = 0;
const billed = z.object({ ConsumedCapacity: z.object({ CapacityUnits: z.number() }) });

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
  fixture.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
      unitsRead += billed.safeParse(result.output).data?.ConsumedCapacity.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize', name: 'unitsRead' },
  );
});

async function newOwner(settings: Partial<Account> = {}): Promise<Account> {
  const { region } = fixture.settings;
  const account = newAccount({ id: randomUUID(), plan: 'paid', region, createdAt: Date.now(), ...settings });
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  return account;
}

const set = async (account: Account, settings: object): Promise<void> => {
  const body = Buffer.from(JSON.stringify({ format: 'json', ...settings }));
  await lambdas.putAlarms(
    { account, access: 'write' },
    { body, host: 'api.example.com', callerIp: '192.0.2.1' },
  );
};

const look = (): Promise<void> => lambdas.lookForAlarms(Date.now() + minuteMs);
const lookAndDeliver = async (): Promise<void> => {
  await look();
  await fixture.doJobs();
};

const told = ({ deliveries }: Inbox) =>
  deliveries.map(({ body }) => alarmMessage.parse(JSON.parse(body.toString('utf8'))));
const statesIn = (inbox: Inbox): readonly string[] => told(inbox).map(({ state }) => state);

const refusing = (): Inbox =>
  fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));

/** Makes a dead letter. @returns a function that removes it */
async function fail(account: Account, times = 1): Promise<() => Promise<void>> {
  const { url } = refusing();
  for (let time = 0; time < times; time += 1)
    await lambdas.publish(account, requestOf(url, { retries: '0' }));
  await fixture.doJobs();
  const letters = await lambdas.listOf(lambdas.deadLettersSince(account, 0));
  const there = letters.flatMap((one) => one ?? []);
  return async () => {
    await lambdas.removeDeadLetters(account.id, there, 'deleted');
  };
}

const anyDeadLetter = { deadLetters: { above: 0, minutes: 1_440 } };

/** After this time, a check that has not ended counts as dead. */
const afterDeathMs = 5 * minuteMs;

describe('a look', () => {
  itAtEachDeath('tells what opens and what is over once, whenever it dies', async (fate) => {
    const account = await newOwner();
    const inbox = fixture.receiver.inbox();
    await set(account, { url: inbox.url, ...anyDeadLetter });
    const mend = await fail(account);
    let ahead = 0;
    const lookUnderFate = async (): Promise<void> => {
      if (fate.hasCome) await look();
      else await fixture.underFate(fate, look);
      await fixture.doJobs();
      ahead += afterDeathMs;
      setClockAhead(ahead);
      await lookAndDeliver();
    };
    await lookUnderFate();
    expect(statesIn(inbox)).toEqual(['open']);
    await mend();
    await lookUnderFate();
    // If a check dies before it sends the alarm, the next one sends it.
    await lookAndDeliver();
    expect(statesIn(inbox)).toEqual(['open', 'over']);
    const [open, over] = told(inbox);
    expect(over).toMatchObject({ id: open?.id, openedAt: open?.openedAt });
    expect(await lambdas.getAlarms({ account, access: 'read' })).toMatchObject({ open: [] });
    await lambdas.removeAlarms(account);
  });

  it('that runs twice at once sends one alarm', async () => {
    const account = await newOwner();
    const inbox = fixture.receiver.inbox();
    await set(account, { url: inbox.url, ...anyDeadLetter });
    await fail(account);
    await Promise.all([look(), look(), look()]);
    await fixture.doJobs();
    await lookAndDeliver();
    expect(statesIn(inbox)).toEqual(['open']);
    await lambdas.removeAlarms(account);
  });

  it('of a dead process that continues late does not overwrite later changes', async () => {
    const account = await newOwner();
    const [inbox, other] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
    await set(account, { url: inbox.url, ...anyDeadLetter });
    const stale = await lambdas.loadAlarms(account.id);
    await lambdas.removeAlarms(account);
    await set(account, { url: other.url, ...anyDeadLetter });
    if (stale === undefined) throw new Error('There are no alarms.');
    expect(await lambdas.saveAlarms({ ...stale, version: stale.version + 1 }, stale)).toBe(false);
    expect((await lambdas.loadAlarms(account.id))?.settings.url).toBe(other.url);
    await lambdas.removeAlarms(account);
  });

  it('makes one call without alarms, and otherwise only those of the account', async () => {
    fixture.reset();
    await look();
    expect(fixture.operations()).toEqual({ QueryCommand: 1 });

    const account = await newOwner();
    await set(account, {
      url: fixture.receiver.inbox().url,
      ...anyDeadLetter,
      hosts: true,
      schedules: true,
      runs: true,
      limits: 80,
    });
    fixture.reset();
    unitsRead = 0;
    await look();
    // The limit is that of docs/cost.md.
    expect(unitsRead).toBeLessThanOrEqual(24);
    // Reads the alarms; dead letters and both lists of the log by shard; circuits, schedules, usage and queues; runs; the account and its
    // size.
    expect(fixture.operations()).toEqual({
      QueryCommand: 1 + 3 * account.shards + 4 + shardCounts.usual,
      GetItemCommand: 2,
    });
    await lambdas.removeAlarms(account);
  });

  it('makes five more calls for an alarm: the account’s row twice, the message, its job, and its count', async () => {
    const account = await newOwner();
    await set(account, { url: fixture.receiver.inbox().url, ...anyDeadLetter });
    await fail(account);
    fixture.reset();
    await look();
    expect(fixture.operations()).toEqual({
      QueryCommand: 1 + account.shards,
      GetItemCommand: 1,
      PutItemCommand: 2,
      BatchWriteItemCommand: 1,
      SendMessageBatchCommand: 1,
      UpdateItemCommand: 1,
    });
    await fixture.drain();
    await lambdas.removeAlarms(account);
  });

  it('skips a suspended account, and forgets a deleted one', async () => {
    const suspended = await newOwner({ active: false, state: 'passive' });
    const deleted = await newOwner({ deletedAt: Date.now() });
    const inbox = fixture.receiver.inbox();
    for (const account of [suspended, deleted]) {
      await set(account, { url: inbox.url, limits: 1 });
    }
    await lookAndDeliver();
    expect(inbox.deliveries).toEqual([]);
    expect(await lambdas.loadAlarms(suspended.id)).toBeDefined();
    expect(await lambdas.loadAlarms(deleted.id)).toBeUndefined();
    await lambdas.removeAlarms(suspended);
  });
});

describe('the reported conditions', () => {
  it('are more dead letters than the set number within the set minutes', async () => {
    const account = await newOwner();
    const inbox = fixture.receiver.inbox();
    await set(account, { url: inbox.url, deadLetters: { above: 1, minutes: 10 } });
    await fail(account);
    await lookAndDeliver();
    expect(inbox.deliveries).toEqual([]);
    await fail(account);
    await lookAndDeliver();
    expect(told(inbox)).toMatchObject([{ kind: 'deadLetters', state: 'open', account: account.id }]);
    setClockAhead(11 * minuteMs);
    await lookAndDeliver();
    expect(statesIn(inbox)).toEqual(['open', 'over']);
    await lambdas.removeAlarms(account);
  });

  it('are failing hosts, schedules whose fire failed, and limits that are near', async () => {
    const account = await newOwner({ customerId: 'acme', limits: { max_schedules: 2, max_dlq_size: 5 } });
    const inbox = fixture.receiver.inbox();
    await set(account, { url: inbox.url, hosts: true, schedules: true, limits: 50 });
    await fail(account, 5);
    await lambdas.createSchedule(
      account,
      requestOf('https://example.com/', { cron: '0 0 29 2 *', 'schedule-id': 'nightly' }),
    );
    await lambdas.noteFire(account.id, 'nightly', { time: 60_000, messageIds: [], error: 'No group.' });
    await lookAndDeliver();
    const opened = told(inbox);
    expect(opened.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual([
      `hosts ${new URL(fixture.receiver.origin).host}`,
      'limits max_dlq_size',
      'limits max_schedules',
      'schedules nightly',
    ]);
    expect(opened.find(({ kind }) => kind === 'schedules')?.detail).toBe(
      'It fired at 1970-01-01T00:01:00.000Z: No group.',
    );
    expect(opened.every((one) => one.account === 'acme')).toBe(true);
    expect(await lambdas.getAlarms({ account, access: 'read' })).toMatchObject({
      open: [{ isTold: true }, { isTold: true }, { isTold: true }, { isTold: true }],
    });
    await lambdas.removeAlarms(account);
  });

  it('wait during quiet hours in their time zone', async () => {
    const account = await newOwner();
    const inbox = fixture.receiver.inbox();
    const clockAt = (time: number): string => new Date(time).toISOString().slice(11, 16);
    const quietHours = {
      from: clockAt(Date.now() - 10 * minuteMs),
      to: clockAt(Date.now() + 10 * minuteMs),
      timezone: 'UTC',
    };
    await set(account, { url: inbox.url, ...anyDeadLetter, quietHours });
    await fail(account);
    await lookAndDeliver();
    expect(inbox.deliveries).toEqual([]);
    expect(await lambdas.getAlarms({ account, access: 'read' })).toMatchObject({ open: [{ isTold: false }] });
    setClockAhead(11 * minuteMs);
    await lookAndDeliver();
    expect(statesIn(inbox)).toEqual(['open']);
    await lambdas.removeAlarms(account);
  });

  it('are reported again if the alarms’ destination changes, but not if only the conditions do', async () => {
    const account = await newOwner();
    const [first, second] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
    await set(account, { url: first.url, ...anyDeadLetter });
    await fail(account);
    await lookAndDeliver();
    await set(account, { url: first.url, ...anyDeadLetter, runs: true });
    await lookAndDeliver();
    await set(account, { url: second.url, ...anyDeadLetter });
    await lookAndDeliver();
    expect([statesIn(first), statesIn(second)]).toEqual([['open'], ['open']]);
    await lambdas.removeAlarms(account);
  });
});

describe('an alarm’s message', () => {
  it('that fails becomes a dead letter, but causes no alarm: not for a host, a dead letter or a callback', async () => {
    const callback = fixture.receiver.inbox();
    const account = await newOwner({
      failureCallback: callback.url,
      circuit: { enabled: true, failures: 1 },
    });
    const away = fixture.receiver.inbox((_delivery, response) =>
      response.writeHead(489, { 'Svc-NonRetryable-Error': 'true' }).end(),
    );
    await set(account, { url: away.url, hosts: true, ...anyDeadLetter });
    for (let failures = 0; failures < 6; failures += 1) {
      const { messageId } = await lambdas.testAlarms(account);
      await fixture.doJobs();
      expect(await fixture.deadLettersOf(messageId)).toBe(1);
    }
    await look();
    expect(await lambdas.getAlarms({ account, access: 'read' })).toMatchObject({ open: [] });
    // The console shows them like all messages.
    expect(await lambdas.getAttention(account)).toMatchObject({
      hostsDown: [],
      failingHosts: [{ failures: 6 }],
      deadLetters: 6,
    });
    expect(callback.deliveries).toEqual([]);
    await lambdas.removeAlarms(account);
  });

  it('is sent even if the daily limit is reached, and the budget pays for it', async () => {
    const account = await newOwner({ limits: { max_requests_per_day: 1, max_requests_per_day_hard: 1 } });
    const inbox = fixture.receiver.inbox();
    await set(account, { url: inbox.url, ...anyDeadLetter });
    await fail(account);
    await expect(lambdas.testAlarms(account)).rejects.toMatchObject({ code: 'daily_limit_reached' });
    await lookAndDeliver();
    expect(statesIn(inbox)).toEqual(['open']);
    await lambdas.removeAlarms(account);
  });
});

const pagerDuty = z.object({ event_action: z.string(), dedup_key: z.string() });

describe('a test', () => {
  it('is sent at once, and resolved at PagerDuty when it is over', async () => {
    const account = await newOwner();
    const inbox = fixture.receiver.inbox();
    const key = { format: 'pagerduty', routingKey: 'a'.repeat(32) };
    await set(account, { url: inbox.url, runs: true, ...key });
    await lambdas.testAlarms(account);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
    const events = (): readonly z.infer<typeof pagerDuty>[] =>
      inbox.deliveries.map(({ body }) => pagerDuty.parse(JSON.parse(body.toString('utf8'))));
    setClockAhead(minuteMs);
    await fixture.doJobs();
    const [begun, ended] = events();
    expect([begun?.event_action, ended?.event_action]).toEqual(['trigger', 'resolve']);
    expect(ended?.dedup_key).toBe(begun?.dedup_key);
    await lambdas.removeAlarms(account);
  });
});
