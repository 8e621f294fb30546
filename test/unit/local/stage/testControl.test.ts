import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseOptions } from '../../../../local/stage/options.ts';
import { startStage, type Stage } from '../../../../local/stage/stage.ts';
import { controlStages } from '../../../../local/stage/testControl.ts';
import { startReceiver, type Receiver } from '../../../support/receiver.ts';
import { takeOverClock, type TestClock } from '../../../support/testClock.ts';
import { startTestControl } from '../../../support/testControl.ts';

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
  let clock: TestClock;
  let dataDirectory = '';
  // One stage for all tests, because handlers read their settings once in a process.
  beforeAll(async () => {
    receiver = await startReceiver();
    dataDirectory = await mkdtemp(join(tmpdir(), 'svc-stage-'));
    clock = takeOverClock();
    controlStages((controlled) => startTestControl({ ...controlled, clock }));
    const options = parseOptions(['--port', '0', '--data-dir', dataDirectory], {});
    stage = await startStage({ ...options, announce: fail, report: fail });
  });
  afterAll(async () => {
    // The receiver closes first, because the stage would wait for the hanging attempt.
    await receiver.close();
    await stage.stop();
    clock.release();
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
});
