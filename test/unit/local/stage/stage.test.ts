import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startReceiver } from '../../../support/receiver.ts';
import { runStage, startCommand, startStage, type Stage } from '../../../support/stage.ts';

// Each test starts processes, on a machine that may be busy.

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

async function start(...options: Parameters<typeof startStage>): Promise<Stage> {
  const stage = await startStage(...options);
  endings.push(stage.remove);
  return stage;
}

async function health(stage: Stage): Promise<number> {
  return (await fetch(`${stage.url}/v2/health`)).status;
}

const credentials = ({ token, readOnlyToken, currentSigningKey, nextSigningKey, management }: Stage) => ({
  token,
  readOnlyToken,
  currentSigningKey,
  nextSigningKey,
  managementPassword: management.password,
});

test('a stage is healthy once it says so, and writes what it prints for its owner only', async () => {
  const stage = await start({ command: startCommand });
  expect(await health(stage)).toBe(200);
  const file = join(stage.dataDir, 'env');
  // The lines for applications are a separate block.
  expect(
    stage
      .output()
      .match(/^\w+=.*\n/gm)
      ?.join(''),
  ).toBe(readFileSync(file, 'utf8'));
  for (const name of ['env', 'master-secret', 'management-password', 'store.mdb', 'lock']) {
    expect(statSync(join(stage.dataDir, name)).mode & 0o077, name).toBe(0);
  }
});

test('a used data directory and a used port are refused with one sentence each', async () => {
  const stage = await start();
  const [onData, onPort] = await Promise.all([
    runStage(['--port', '0', '--data-dir', stage.dataDir]),
    runStage(['--port', new URL(stage.url).port, '--in-memory']),
  ]);
  expect([await onData.exited, await onPort.exited]).toEqual([2, 2]);
  expect(onData.output()).toBe(
    `A local stage (process ${stage.pid}) already uses ${stage.dataDir}: stop it, or give this one another --data-dir.\n`,
  );
  expect(onPort.output()).toBe(
    `Port ${new URL(stage.url).port} is already in use: choose another with --port, or any free one with --port 0.\n`,
  );
  expect(await health(stage)).toBe(200);
});

test('SIGTERM ends it with status 0, and new starts have the same credentials, also after kill -9', async () => {
  const first = await start();
  expect(await first.stop()).toBe(0);
  const second = await start({ dataDir: first.dataDir });
  expect(credentials(second)).toEqual(credentials(first));
  await second.kill();
  const third = await start({ dataDir: first.dataDir });
  expect(credentials(third)).toEqual(credentials(first));
  expect(await health(third)).toBe(200);
});

test('a failed start with jobs in progress says why, does not wait for destinations, and leaves the jobs', async () => {
  const receiver = await startReceiver();
  endings.push(() => receiver.close());
  const silent = receiver.inbox(() => undefined);
  const first = await start();
  const published = await fetch(`${first.url}/v2/publish/${silent.url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${first.token}`, 'svc-timeout': '60s' },
    body: 'work',
  });
  expect(published.status).toBe(200);
  await silent.received(1);
  await first.kill();

  const inTheWay = join(first.dataDir, 'env.new');
  mkdirSync(inTheWay);
  const failed = await runStage(['--port', '0', '--data-dir', first.dataDir]);
  expect(await failed.exited).toBe(1);
  expect(failed.output()).toMatch(/^Error: EISDIR: illegal operation on a directory, open '.*env\.new'\n/);
  expect(failed.output()).not.toContain('RangeError');

  await rm(inTheWay, { recursive: true });
  const before = silent.deliveries.length;
  await start({ dataDir: first.dataDir });
  await silent.received(before + 1);
});

test('a stage in memory keeps nothing, and a stage has a test control only if asked for', async () => {
  const stage = await start({ args: ['--in-memory'] });
  expect(await health(stage)).toBe(200);
  expect(() => statSync(join(stage.dataDir, 'env'))).toThrow('ENOENT');
  expect(stage.output()).not.toMatch(/TEST|later release/);
  await expect(stage.advance(1000)).rejects.toThrow('without testControl');
  const onGateway = await fetch(`${stage.url}/test/clock`, { method: 'POST', body: '{"advanceMs":1}' });
  expect(onGateway.status).toBe(404);
});
