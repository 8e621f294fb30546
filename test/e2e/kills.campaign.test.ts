import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { maxReceives, mostDeaths } from '../../lambdas/aws/resources.ts';
import type { Parked } from '../../lambdas/job/parked.ts';
import { messageKey, storedMessages, toBytes } from '../../local/sqs/storedMessages.ts';
import { Store } from '../../local/store/store.ts';
import manifest from '../../package.json' with { type: 'json' };
import { svcQueue } from '../support/command.ts';
import { limitForHangsMs, limitForManyDeathsMs } from '../support/limits.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { startStage, type Stage, type StageOptions } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Stages are started a dozen times. */
const slowly = { timeout: limitForManyDeathsMs };

const letters = z.object({ messages: z.array(z.unknown()) });

describe.runIf(service.target === 'local')('a local stage', () => {
  const receiver = useReceiver();

  async function start(options: StageOptions = {}): Promise<Stage> {
    const stage = await startStage(options);
    onTestFinished(() => stage.remove());
    return stage;
  }

  const deadLettersOf = async ({ url, token }: Stage): Promise<number> => {
    const answer = await call('/v2/dlq', { headers: { authorization: `Bearer ${token}` } }, url);
    return letters.parse(answer.json).messages.length;
  };

  it('that is killed again and again blames none of the jobs that die with it', slowly, async () => {
    let stage = await start();
    const { dataDir } = stage;
    let isUp = false;
    const inbox = receiver.inbox((_delivery, response) => {
      if (isUp) response.writeHead(200).end();
    });
    const ids = [];
    for (const timeout of ['20s', '60s', '20s']) {
      const headers = { 'Svc-Timeout': timeout, 'Svc-Retries': '0' };
      ids.push(messageIdOf(await publish(inbox.url, { ...stage, headers })));
    }
    // More than the deaths after which a job is moved aside, is given up, and is parked.
    const kills = maxReceives + 2 * mostDeaths + 2;
    for (let kill = 1; kill <= kills; kill += 1) {
      await inbox.until((deliveries) => deliveries.length >= 3 * kill);
      await stage.kill();
      isUp = kill === kills;
      stage = await start({ dataDir });
    }
    await inbox.until((deliveries) => deliveries.length >= 3 * (kills + 1));
    await expect.poll(() => deadLettersOf(stage)).toBe(0);
    const authorization = `Bearer ${stage.token}`;
    for (const id of ids) {
      await expect
        .poll(
          async () => (await call(`/v2/messages/${id}`, { headers: { authorization } }, stage.url)).status,
          { timeout: limitForHangsMs },
        )
        .toBe(404);
    }
    expect(await deadLettersOf(stage)).toBe(0);
  });

  it('gives up a job that really kills it, and runs on', slowly, async () => {
    const inbox = receiver.inbox();
    let stage = await start();
    const { dataDir } = stage;
    // A process that calls this destination dies, as if it ran out of memory.
    const deadly = join(dataDir, 'deadly.mjs');
    writeFileSync(
      deadly,
      `import { subscribe } from 'node:diagnostics_channel';
       subscribe('http.client.request.start', ({ request }) => {
         if (request.path.includes('/poison')) process.kill(process.pid, 'SIGKILL');
       });`,
    );
    const env = { NODE_OPTIONS: `--import ${deadly}` };
    const headers = { 'Svc-Delay': '5s', 'Svc-Retries': '0' };
    await publish(`${inbox.url}/poison`, { ...stage, headers });
    await stage.stop();
    let deaths = 0;
    for (; deaths < 3 * maxReceives; deaths += 1) {
      stage = await start({ dataDir, env, testControl: true });
      const died = await Promise.race([
        stage.exited.then(() => true),
        expect
          .poll(() => stage.output(), { timeout: limitForHangsMs })
          .toMatch(/The process of the function \w+ ended/)
          .then(() => false),
      ]);
      if (!died) break;
    }
    // A start counts one receive for each job that was visible. A job may have become due while no stage was
    // running.
    expect(deaths).toBeGreaterThanOrEqual(maxReceives - 1);
    for (let again = 0; again < 2 * mostDeaths && (await deadLettersOf(stage)) === 0; again += 1)
      await stage.advance(310_000);
    expect(await deadLettersOf(stage)).toBe(1);
    messageIdOf(await publish(inbox.url, stage));
    await inbox.until((deliveries) => deliveries.length > 0);
  });

  it('sends parked jobs back when it starts, and when svc-queue redrive asks for it', async () => {
    let stage = await start();
    const { dataDir } = stage;
    const inbox = receiver.inbox();
    const headers = { 'Svc-Delay': '10s' };
    const id = messageIdOf(await publish(inbox.url, { ...stage, headers }));
    await stage.stop();
    const store = new Store(join(dataDir, 'store.mdb'));
    const job = [...storedMessages(store)].find(({ body }) => body.includes(id));
    if (job === undefined) throw new Error('The message has no job.');
    const park = (text: string, sentAt: number): void => {
      const parked: Parked = {
        queue: 'short',
        why: 'deaths',
        release: manifest.version,
        parkedAt: sentAt,
        text,
      };
      const moved = { ...job, sentAt, availableAt: sentAt, queue: 'parked', body: JSON.stringify(parked) };
      store.write(messageKey(job), undefined);
      store.write(messageKey(moved), toBytes(moved));
    };
    park(job.body, job.sentAt - 2);
    await store.close();
    const redrive = () => svcQueue(['redrive', '--data-dir', dataDir]);
    expect(await redrive()).toMatchObject({
      code: 2,
      output: `No stage uses ${dataDir}. It sends back parked jobs when it starts.\n`,
    });
    stage = await start({ dataDir });
    await inbox.until((deliveries) => deliveries.some((one) => one.headers['svc-message-id'] === id));
    expect(await redrive()).toMatchObject({
      code: 0,
      output: 'Sent back: parked messages 0, undelivered fires 0.\n',
    });
  });
});
