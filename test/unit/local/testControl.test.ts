import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noJournal } from '../../../local/journal.ts';
import { startScheduler } from '../../../local/scheduler.ts';
import { noSchedulerJournal } from '../../../local/schedulerJournal.ts';
import { queueArn, startSqs } from '../../../local/sqs.ts';
import { takeOverClock } from '../../../local/testClock.ts';
import { startTestControl } from '../../../local/testControl.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startStage, type Stage } from '../../support/stage.ts';

// Starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const minuteMs = 60_000;
const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

describe('on a stage', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
    endings.push(() => receiver.close());
  });

  async function start(testControl: boolean): Promise<Stage> {
    const stage = await startStage({ testControl });
    endings.push(stage.remove);
    return stage;
  }

  async function publish({ url, token }: Stage, destination: string, headers: Record<string, string>) {
    const response = await fetch(`${url}/v2/publish/${destination}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: 'hello',
    });
    expect(response.status, await response.text()).toBe(200);
  }

  test('a delayed message is delivered as soon as its time has passed, and not before', async () => {
    const stage = await start(true);
    const inbox = receiver.inbox();
    await publish(stage, inbox.url, { 'svc-delay': '10m' });
    await stage.advance(10 * minuteMs - 5_000);
    expect(inbox.deliveries).toHaveLength(0);
    const started = performance.now();
    await stage.advance(6_000);
    expect(inbox.deliveries).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('the handlers see the same time, and what they put off is due in its turn', async () => {
    const stage = await start(true);
    const inbox = receiver.inbox((_delivery, response, count) =>
      response.writeHead(count < 2 ? 500 : 200).end(),
    );
    await publish(stage, inbox.url, { 'svc-retries': '2', 'svc-retry-delay': '120000' });
    await inbox.received(1);
    await stage.advance(5 * minuteMs);
    expect(inbox.deliveries).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = inbox.deliveries.map(
      ({ headers }) => Number(headers['webhook-timestamp']) * 1000,
    );
    for (const ms of [second - first, third - second]) {
      expect(ms).toBeGreaterThanOrEqual(2 * minuteMs - 1000);
      expect(ms).toBeLessThan(2 * minuteMs + 5000);
    }
  });

  test('a destination that hangs does not hold the clock', async () => {
    const stage = await start(true);
    const hanging = receiver.inbox(() => undefined);
    const inbox = receiver.inbox();
    await publish(stage, hanging.url, { 'svc-timeout': '20s' });
    await hanging.received(1);
    await publish(stage, inbox.url, { 'svc-delay': '30s' });
    await stage.advance(31_000);
    expect(inbox.deliveries).toHaveLength(1);
  });

  test('it is printed where it is, and refuses what it does not know', async () => {
    const stage = await start(true);
    const url = /^SVC_TEST_CONTROL_URL=(.*)$/m.exec(stage.output())?.[1] ?? '';
    expect(readFileSync(join(stage.dataDir, 'env'), 'utf8')).toContain(url);
    const post = async (path: string, body: string) =>
      (await fetch(`${url}${path}`, { method: 'POST', body })).status;
    expect(await post('/test/clock', '{"advanceMs":0}')).toBe(200);
    expect(await post('/test/clock', '{"advanceMs":-1}')).toBe(400);
    expect(await post('/test/clock', 'x')).toBe(400);
    expect(await post('/test/other', '{}')).toBe(404);
  });

  test('it does not exist unless it is asked for', async () => {
    const stage = await start(false);
    expect(stage.output()).not.toContain('TEST');
    await expect(stage.advance(1000)).rejects.toThrow('without testControl');
    const onGateway = await fetch(`${stage.url}/test/clock`, { method: 'POST', body: '{"advanceMs":1}' });
    expect(onGateway.status).toBe(404);
  });
});

describe('the clock', () => {
  test('goes on by itself after it was set forward, never back, and is given back', () => {
    const clock = takeOverClock();
    const before = Date.now();
    clock.moveTo(before + 1_000_000);
    const after = Date.now();
    expect(after - before).toBeGreaterThanOrEqual(1_000_000);
    clock.moveTo(before);
    expect(Date.now()).toBeGreaterThanOrEqual(after);
    clock.release();
    expect(Date.now() - before).toBeLessThan(1_000_000);
  });

  test('stops at every fire of a schedule', async () => {
    const clock = takeOverClock();
    endings.push(clock.release);
    const region = 'eu-central-1';
    const report = (error: unknown): void => {
      throw error;
    };
    const now = (): number => Date.now();
    const common = { region, report, now };
    const queues = [{ name: 'fire', visibilityTimeoutMs: 70_000 }];
    const sqs = await startSqs({ ...common, queues, journal: noJournal });
    endings.push(sqs.close);
    const groups: string[] = [];
    const scheduler = await startScheduler({ ...common, sqs, groups, journal: noSchedulerJournal() });
    endings.push(scheduler.close);
    const control = await startTestControl({ clock, sqs, scheduler, fedQueues: [], report });
    endings.push(control.close);
    const client = new SchedulerClient({
      region,
      endpoint: scheduler.url,
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    });
    endings.push(() => {
      client.destroy();
    });
    await client.send(
      new CreateScheduleCommand({
        Name: 'minutely',
        ScheduleExpression: 'cron(* * * * ? *)',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: { Arn: queueArn(region, 'fire'), RoleArn: 'arn:aws:iam::000000000000:role/scheduler' },
      }),
    );
    const body = JSON.stringify({ advanceMs: 24 * 60 * minuteMs });
    await fetch(`${control.url}/test/clock`, { method: 'POST', body });
    expect(sqs.unsettled('fire')).toHaveLength(24 * 60);
  });
});
