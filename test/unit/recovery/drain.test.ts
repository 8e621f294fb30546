import { describe, expect, it } from 'vitest';
import { imported } from '../../support/imported.ts';
import { drain } from '../../../operate/drain.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;

useFixture((opened) => {
  fixture = opened;
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/recovery/drain.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/publish/batch.ts')),
  ...(await import('../../../lambdas/publish/again.ts')),
  ...(await import('../../../lambdas/schedule/run.ts')),
  ...(await import('../../../lambdas/workflow/steps/trigger.ts')),
}));

const account = async () => {
  const found = await fixture.loadAccount(fixture.account.id, true);
  if (found === undefined) throw new Error('There is no account.');
  return found;
};

const refused = { status: 503, code: 'region_draining' };

describe('a drained region', () => {
  it('accepts nothing new until the drain is undone', async () => {
    const messageId = await fixture.send('http://127.0.0.1:9/waiting', { delay: '1h' });
    expect(await lambdas.setDraining(true)).toBe(1);
    expect(await lambdas.setDraining(true)).toBe(0);
    const stopped = await account();
    const url = 'http://127.0.0.1:9/new';
    const request = requestOf(url);
    const scheduled = { ...request, config: configOf({ cron: '0 9 * * *' }) };
    const items = JSON.stringify([{ destination: url }]);
    const many = { body: Buffer.from(items), prefix: 'Svc', callerIp: '127.0.0.1', host: 'api.example.com' };
    await expect(fixture.publishRequest(stopped, request)).rejects.toMatchObject(refused);
    await expect(lambdas.batch(stopped, many)).rejects.toMatchObject(refused);
    await expect(lambdas.createSchedule(stopped, scheduled)).rejects.toMatchObject(refused);
    await expect(lambdas.runSchedule(stopped, 'any', 'api.example.com')).rejects.toMatchObject(refused);
    await expect(lambdas.publishAgain(stopped, messageId, request)).rejects.toMatchObject(refused);
    await expect(lambdas.trigger(stopped, request)).rejects.toMatchObject(refused);
    await expect(lambdas.triggerBatch(stopped, many)).rejects.toMatchObject(refused);

    expect(await lambdas.setDraining(false)).toBe(1);
    await expect(fixture.publishRequest(await account(), request)).resolves.toMatchObject({ status: 200 });
    await fixture.doJobs();
  });

  it('counts what is left, and attempts that no lane waits for', async () => {
    const before = await lambdas.readRegion();
    const dueAt = Date.now() + 7_200_000;
    await fixture.send('http://127.0.0.1:9/far', { delay: '2h' });
    await lambdas.createSchedule(await account(), {
      ...requestOf('http://127.0.0.1:9/fired'),
      config: configOf({ cron: '0 9 * * *', 'schedule-id': 'daily' }),
    });
    const failing = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    await fixture.send(failing.url, { retries: '0' });
    await fixture.doJobs();
    const left = await lambdas.readRegion();
    expect(left.messages).toBe(before.messages + 1);
    expect(left.lastDueAt).toBeGreaterThanOrEqual(dueAt);
    expect(left.schedules).toBe(before.schedules + 1);
    expect(left.deadLetters).toBe(before.deadLetters + 1);
    expect(lambdas.isEmptied(left)).toBe(false);
    expect(lambdas.isEmptied({ ...left, messages: 0, schedules: 0, queues: {} })).toBe(true);
    expect(lambdas.isEmptied({ ...left, messages: 0, schedules: 0, queues: { fire: 1 } })).toBe(false);
  });
});

describe('the command', () => {
  const nothing = {
    messages: 0,
    lastDueAt: undefined,
    runs: 0,
    schedules: 0,
    queues: {},
    paused: [],
    pausedSchedules: 0,
    deadLetters: 0,
  };

  /** Returns a region in which successive counts find these numbers of messages. */
  function regionWith(found: readonly number[], stopped: readonly number[]) {
    const counts = [...found];
    const changes = [...stopped];
    let clock = 0;
    const lines: string[] = [];
    return {
      lines,
      looksLeft: () => counts.length,
      run: (once: boolean) =>
        drain(
          {
            setDraining: () => Promise.resolve(changes.shift() ?? 0),
            readRegion: () => Promise.resolve({ ...nothing, messages: counts.shift() ?? 0 }),
            isEmptied: lambdas.isEmptied,
          },
          {
            everyMs: 20_000,
            once,
            now: () => clock,
            wait: (ms) => {
              clock += ms;
              return Promise.resolve();
            },
          },
          (line) => lines.push(line),
        ),
    };
  }

  it('ends when two counts in a row find nothing, or after one if it is asked to', async () => {
    const region = regionWith([2, 0, 1, 0, 0, 9], []);
    expect(await region.run(false)).toBe(true);
    expect(region.looksLeft()).toBe(1);
    expect(await regionWith([1], []).run(true)).toBe(false);
    expect(await regionWith([0], []).run(true)).toBe(true);
    expect(await regionWith([0], [1]).run(true)).toBe(false);
  });

  it('ignores a count within thirty seconds after an account was stopped', async () => {
    const region = regionWith([0, 0, 0, 0, 9], [3]);
    expect(await region.run(false)).toBe(true);
    // Counts at 0, 20, 40 and 60 s. The first two are too early.
    expect(region.looksLeft()).toBe(1);
    expect(region.lines[0]).toContain('3 accounts');
  });
});
