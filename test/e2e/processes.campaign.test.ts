/** A stage with several processes: each is killed and replaced under load. */
import { rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { svcQueue, type Ran } from '../support/command.ts';
import { limitForManyDeathsMs } from '../support/limits.ts';
import { membersOf, newsIn } from '../support/members.ts';
import { call, service } from '../support/publish.ts';
import { startStage, type Stage } from '../support/stage.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const slowly = { timeout: limitForManyDeathsMs };

interface Traffic {
  readonly answered: readonly string[];
  /** Requests without an answer, or with another status than 2XX. */
  readonly refused: readonly string[];
  /** Waits for a number of answers. */
  readonly until: (count: number) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Publishes all the time over connections that stay open, 20 ms after each answer. */
function publishTo({ url, token }: Stage, path: (number: number) => string, delay?: string): Traffic {
  const agent = new Agent({ keepAlive: true });
  const answered: string[] = [];
  const refused: string[] = [];
  const over = new AbortController();
  const publish = (number: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'text/plain',
        ...(delay !== undefined && { 'svc-delay': delay }),
      };
      const asked = request(
        { hostname, port, path: path(number), method: 'POST', agent, headers },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.once('end', () => {
            if (answer.statusCode === 201 || answer.statusCode === 200) resolve(text);
            else reject(new Error(`${answer.statusCode ?? 0}: ${text}`));
          });
        },
      );
      asked.once('error', reject);
      asked.end(`東京 ${number}`);
    });
  let count = 0;
  const publisher = async (): Promise<void> => {
    while (!over.signal.aborted) {
      count += 1;
      try {
        answered.push(z.object({ messageId: z.string() }).parse(JSON.parse(await publish(count))).messageId);
      } catch (error) {
        refused.push(String(error));
      }
      await sleep(20);
    }
  };
  const publishers = Array.from({ length: 4 }, publisher);
  return {
    answered,
    refused,
    until: (least) => expect.poll(() => answered.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(least),
    stop: async () => {
      over.abort();
      await Promise.all(publishers);
      agent.destroy();
    },
  };
}

const idsIn = (inbox: Inbox): string[] =>
  inbox.deliveries.map(({ headers }) => headers['upstash-message-id'] ?? '');

describe.runIf(service.target === 'local')('a stage with two processes', slowly, () => {
  const receiver = useReceiver();

  async function start(options: Parameters<typeof startStage>[0] = {}): Promise<Stage> {
    const stage = await startStage({ ...options, args: ['--processes', '2', ...(options.args ?? [])] });
    onTestFinished(() => stage.remove());
    return stage;
  }

  const replaced = (stage: Stage, times: number): Promise<unknown> =>
    expect
      .poll(() => stage.output().split('Each process of the service was replaced').length - 1, {
        timeout: 120_000,
      })
      .toBe(times);

  it('answers each request while its processes are replaced, and delivers each message once', async () => {
    const stage = await start();
    const inbox = receiver.inbox();
    const before = membersOf(stage);
    expect(before).toHaveLength(2);
    const traffic = publishTo(stage, () => `/v2/publish/${inbox.url}`);
    for (let round = 1; round <= 2; round += 1) {
      process.kill(stage.pid, 'SIGHUP');
      await replaced(stage, round);
    }
    await traffic.stop();
    const after = membersOf(stage);
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(traffic.refused).toEqual([]);
    await inbox.until(() => new Set(idsIn(inbox)).size >= traffic.answered.length);
    expect(idsIn(inbox).toSorted()).toEqual(traffic.answered.toSorted());
    // Commands treat all processes as one stage.
    expect(await backUp(stage)).toMatchObject({ code: 0 });
    expect(await svcQueue(['redrive', '--data-dir', stage.dataDir])).toMatchObject({ code: 0 });
    expect(await stage.stop()).toBe(0);
  });

  const backUp = (stage: Stage): Promise<Ran> =>
    svcQueue(['backup', join(stage.dataDir, 'backup.tar.gz'), '--data-dir', stage.dataDir]);

  it('runs the program that was installed since, and goes on if that does not start', async () => {
    const program = join(import.meta.dirname, '../../.cache', `processes-${process.pid}.mjs`);
    const write = (first: string): void => {
      writeFileSync(program, `${first}\nawait import(${JSON.stringify(inject('bundledStage'))});\n`);
    };
    onTestFinished(() => {
      rmSync(program);
    });
    write('');
    const stage = await start({ command: [program] });
    const inbox = receiver.inbox();
    const traffic = publishTo(stage, () => `/v2/publish/${inbox.url}`);
    const before = membersOf(stage);
    write(`if (process.env.NODE_UNIQUE_ID !== '') throw new Error('It is broken.');`);
    process.kill(stage.pid, 'SIGHUP');
    await expect.poll(stage.output, { timeout: 60_000 }).toContain('A process of the service ended');
    expect(membersOf(stage)).toEqual(before);
    write(`console.log('The next release runs.');`);
    process.kill(stage.pid, 'SIGHUP');
    await replaced(stage, 1);
    await traffic.stop();
    expect(stage.output().split('The next release runs.')).toHaveLength(3);
    expect(traffic.refused).toEqual([]);
    await inbox.until(() => new Set(idsIn(inbox)).size >= traffic.answered.length);
  });

  it('loses nothing when each of its processes is killed in turn, the primary too', async () => {
    let stage = await start();
    const { dataDir } = stage;
    const port = Number(new URL(stage.url).port);
    const inbox = receiver.inbox();
    const late = receiver.inbox();
    const minutely = receiver.inbox();
    const headers = { authorization: `Bearer ${stage.token}`, 'Svc-Cron': '* * * * *' };
    const made = await call(`/v2/schedules/${minutely.url}`, { method: 'POST', headers }, stage.url);
    expect(made.status).toBe(200);
    const answered: string[] = [];
    const delayed: string[] = [];
    for (const victim of [0, 1, 0, undefined, 1]) {
      const now = publishTo(stage, () => `/v2/publish/${inbox.url}`);
      const later = publishTo(stage, (number) => `/v2/publish/${late.url}?number=${number}`, '2s');
      await now.until(20);
      const news = newsIn(stage);
      const [pid = stage.pid] = victim === undefined ? [] : [membersOf(stage)[victim]];
      process.kill(pid, 'SIGKILL');
      if (victim === undefined) {
        await stage.exited;
        await Promise.all([now.stop(), later.stop()]);
        stage = await start({ dataDir, port });
      } else {
        // A connection that is opened now may belong to the killed process.
        const ready = (): Promise<unknown> => call('/v2/ready', {}, stage.url).catch(() => undefined);
        await expect.poll(ready, { timeout: 60_000 }).toMatchObject({ status: 200 });
        await expect.poll(() => newsIn(stage), { timeout: 60_000 }).toBe(news + 1);
      }
      await Promise.all([now.stop(), later.stop()]);
      answered.push(...now.answered);
      delayed.push(...later.answered);
    }
    await inbox.until(() => answered.every((id) => idsIn(inbox).includes(id)));
    await late.until(() => delayed.every((id) => idsIn(late).includes(id)));
    // The schedule fires once a minute, also where another process takes it over.
    await minutely.received(1);
    const fires = minutely.deliveries.map(({ headers: { 'upstash-message-id': id = '' }, at }) => {
      const minute = Math.floor(at / 60_000);
      return [`${minute} ${id}`, minute] as const;
    });
    expect(new Map(fires).size).toBe(new Set(fires.map(([, minute]) => minute)).size);
    const check = () => svcQueue(['check', '--data-dir', dataDir]);
    expect(await check()).toMatchObject({ code: 0 });
    expect(await stage.stop()).toBe(0);
    expect(await check()).toMatchObject({ code: 0 });
  });

  it('has as many processes as before when one is killed while it is replaced', async () => {
    const stage = await start();
    const [victim = 0, other = 0] = membersOf(stage);
    process.kill(stage.pid, 'SIGHUP');
    // The new process is starting.
    await expect.poll(() => membersOf(stage).length, { timeout: 60_000, interval: 5 }).toBe(3);
    process.kill(victim, 'SIGKILL');
    await replaced(stage, 1);
    await expect.poll(() => newsIn(stage), { timeout: 60_000 }).toBe(1);
    const members = membersOf(stage);
    expect(members).toHaveLength(2);
    expect(members).not.toContain(other);
    expect(await backUp(stage)).toMatchObject({ code: 0 });
  });

  it('loses nothing when one is killed, and then the other while the new one begins', async () => {
    const stage = await start();
    const inbox = receiver.inbox();
    const traffic = publishTo(stage, () => `/v2/publish/${inbox.url}`, '2s');
    await traffic.until(20);
    const [first = 0, second = 0] = membersOf(stage);
    process.kill(first, 'SIGKILL');
    const isForked = (): boolean => membersOf(stage).some((pid) => pid !== first && pid !== second);
    await expect.poll(isForked, { timeout: 60_000, interval: 5 }).toBe(true);
    process.kill(second, 'SIGKILL');
    await expect.poll(() => newsIn(stage), { timeout: 60_000 }).toBe(2);
    await traffic.stop();
    await inbox.until(() => traffic.answered.every((id) => idsIn(inbox).includes(id)));
    // One of the processes has taken over what one does for all.
    await expect.poll(() => backUp(stage), { timeout: 60_000, interval: 500 }).toMatchObject({ code: 0 });
  });
});
