import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startScheduler } from '../../../../local/scheduler/scheduler.ts';
import { queueArn } from '../../../../local/aws/arns.ts';
import { Store } from '../../../../local/store/store.ts';
import { startSqs } from '../../../../local/sqs/sqs.ts';
import { parseOptions } from '../../../../local/stage/options.ts';
import { startStage, type Stage } from '../../../../local/stage/stage.ts';
import { takeOverClock } from '../../../../local/stage/testClock.ts';
import { startTestControl } from '../../../../local/stage/testControl.ts';
import { startReceiver, type Receiver } from '../../../support/receiver.ts';

const minuteMs = 60_000;
const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

describe('on a stage', () => {
  const fail = (error: unknown): never => {
    throw error;
  };
  let receiver: Receiver;
  let stage: Stage;
  let dataDirectory = '';
  // One stage for all tests, because handlers read their settings once in a process.
  beforeAll(async () => {
    receiver = await startReceiver();
    dataDirectory = await mkdtemp(join(tmpdir(), 'svc-stage-'));
    const options = parseOptions(['--port', '0', '--data-dir', dataDirectory], { SVC_TEST_CONTROL: '1' });
    stage = await startStage({ ...options, announce: fail, report: fail });
  });
  afterAll(async () => {
    // The receiver closes first, because the stage would wait for the hanging attempt.
    await receiver.close();
    await stage.stop();
    await rm(dataDirectory, { recursive: true });
  });

  const variable = (name: string): string => stage.variables[name] ?? '';
  const control = (path: string, body: string): Promise<Response> =>
    fetch(`${variable('SVC_TEST_CONTROL_URL')}${path}`, { method: 'POST', body });

  async function advance(ms: number): Promise<void> {
    const response = await control('/test/clock', JSON.stringify({ advanceMs: ms }));
    expect(response.status, await response.text()).toBe(200);
  }

  async function publish(destination: string, headers: Record<string, string>): Promise<void> {
    const response = await fetch(`${variable('SVC_URL')}/v2/publish/${destination}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${variable('SVC_TOKEN')}`, ...headers },
      body: 'hello',
    });
    expect(response.status, await response.text()).toBe(200);
  }

  test('a delayed message is delivered once its time has passed, and not before', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, { 'svc-delay': '10m' });
    await advance(10 * minuteMs - 5_000);
    expect(inbox.deliveries).toHaveLength(0);
    await advance(6_000);
    expect(inbox.deliveries).toHaveLength(1);
  });

  test('the handlers see the same time, and what they delay is due in its turn', async () => {
    const inbox = receiver.inbox((_delivery, response, count) =>
      response.writeHead(count < 2 ? 500 : 200).end(),
    );
    await publish(inbox.url, { 'svc-retries': '2', 'svc-retry-delay': '120000' });
    await inbox.received(1);
    await advance(5 * minuteMs);
    expect(inbox.deliveries).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = inbox.deliveries.map(
      ({ headers }) => Number(headers['webhook-timestamp']) * 1000,
    );
    for (const ms of [second - first, third - second]) {
      expect(ms).toBeGreaterThanOrEqual(2 * minuteMs - 1000);
      expect(ms).toBeLessThan(2 * minuteMs + 5000);
    }
  });

  test('a hanging destination does not stop the clock', async () => {
    const hanging = receiver.inbox(() => undefined);
    const inbox = receiver.inbox();
    await publish(hanging.url, { 'svc-timeout': '20s' });
    await hanging.received(1);
    await publish(inbox.url, { 'svc-delay': '30s' });
    await advance(31_000);
    expect(inbox.deliveries).toHaveLength(1);
  });

  test('a jump waits for nothing, and later messages are delivered', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, { 'svc-delay': '10m' });
    const before = Date.now();
    expect((await control('/test/clock', JSON.stringify({ jumpMs: 10 * minuteMs }))).status).toBe(200);
    expect(Date.now() - before).toBeGreaterThanOrEqual(10 * minuteMs);
    await inbox.received(1);
  });

  test('the control’s URL is in the environment file, and unknown commands are refused', async () => {
    expect(readFileSync(join(dataDirectory, 'env'), 'utf8')).toContain(variable('SVC_TEST_CONTROL_URL'));
    expect((await control('/test/clock', '{"advanceMs":0}')).status).toBe(200);
    expect((await control('/test/clock', '{"advanceMs":-1}')).status).toBe(400);
    expect((await control('/test/clock', '{"advanceMs":1,"jumpMs":1}')).status).toBe(400);
    expect((await control('/test/clock', 'x')).status).toBe(400);
    expect((await control('/test/other', '{}')).status).toBe(404);
  });
});

describe('the clock', () => {
  test('continues after it was set forward, cannot go back, and can be reset', () => {
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
    const store = new Store(undefined);
    const common = { region, report, now, store };
    const queues = [{ name: 'fire', visibilityTimeoutMs: 70_000 }];
    const sqs = await startSqs({ ...common, queues });
    endings.push(sqs.close);
    const groups: string[] = [];
    const scheduler = await startScheduler({ ...common, sqs, groups });
    endings.push(scheduler.close);
    const control = await startTestControl({
      clock,
      queues: sqs.queues,
      scheduler,
      fedQueues: [],
      expireNow: () => Promise.resolve(0),
      written: () => store.committed(),
      report,
    });
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
        Target: {
          Arn: queueArn(region, 'fire'),
          RoleArn: 'arn:aws:iam::000000000000:role/scheduler',
          Input: 'fired',
        },
      }),
    );
    const body = JSON.stringify({ advanceMs: 24 * 60 * minuteMs });
    await fetch(`${control.url}/test/clock`, { method: 'POST', body });
    expect(sqs.queues.unsettled('fire')).toHaveLength(24 * 60);
  });
});
