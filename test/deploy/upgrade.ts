/**
 * `npm run test:upgrade`: deploys the previous release to an AWS emulator, then this one over it, then the previous one again,
 * while messages are published all the time and others wait. Every message that was accepted has to arrive. With an argument,
 * another commit stands for the previous release: `npm run test:upgrade -- v0.1.0`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { startReceiver } from '../support/receiver.ts';
import { type Cdk, openCdk } from './cdk.ts';
import { type Api, apiAt, openFront } from './front.ts';
import { findManagement } from './management.ts';
import { endOnSignals } from './program.ts';
import { withEmulator } from './withEmulator.ts';

/** The last commit of the previous release. Whoever cuts a release puts the one before here. */
const previousRelease = 'f28a2d8';

const root = resolve(import.meta.dirname, '../..');
const region = 'eu-central-1';

/** The stacks of one region, and the management API's. */
const stackCount = 3;

/** Between two messages, so that there are some in each state at each moment. */
const paceMs = 500;

/**
 * Writes the files of a commit into a folder. It is built with the packages that are installed here: they are the same but for
 * their patches.
 */
function checkOut(commit: string, folder: string): string {
  mkdirSync(folder);
  const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: files });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const url = z.url().transform((text) => new URL(text));
const outputsShape = z.object({
  [`Svc-${region}-Service`]: z.object({ Url: url }),
  'Svc-Management': z.object({ ManagementUrl: url, ManagementSecret: z.string() }),
});

const published = z.object({ messageId: z.string() });

/** A client of one account. */
function clientOf(base: string, authorization: string) {
  return async (method: string, path: string, headers = {}, body?: string): Promise<unknown> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} was answered ${response.status.toString()}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** Publishes until it is told to stop, with delays that reach beyond the deployment that is under way. */
function keepPublishing(publish: (body: string, delaySeconds: number) => Promise<string>) {
  const accepted = new Map<string, string>();
  const refused: string[] = [];
  let goesOn = true;
  const running = (async () => {
    for (let number = 0; goesOn; number += 1) {
      const body = `message ${number.toString()}`;
      try {
        accepted.set(await publish(body, [0, 10, 60, 150][number % 4] ?? 0), body);
      } catch (error) {
        // A client is told, and would send it again: nothing was accepted.
        refused.push(String(error));
      }
      await sleep(paceMs);
    }
  })();
  return {
    accepted,
    refused,
    stop: async (): Promise<void> => {
      goesOn = false;
      await running;
    },
  };
}

async function main(): Promise<void> {
  const [commit = previousRelease] = process.argv.slice(2);
  await withEmulator(async ({ port, awsUrl, scratch, say }) => {
    const before = checkOut(commit, join(scratch, 'previous'));
    const apis = new Map<'messaging' | 'management', Api>();
    const messaging = await openFront(port, () => apis.get('messaging'));
    const managing = await openFront(port, () => apis.get('management'));
    const receiver = await startReceiver();
    try {
      const cdk = openCdk({
        scratch,
        endpoint: awsUrl,
        context: {
          regions: region,
          retain: 'false',
          // See `run.ts` for these.
          scheduleGroup: 'default',
          clientPatience: '10',
          allowedDestinations: '127.0.0.0/8',
          ownHosts: [messaging, managing].map(({ url: front }) => new URL(front).host).join(','),
        },
      });
      await cdk.bootstrap([region]);
      const deploy = async (name: string, source?: string) => {
        const outputs = outputsShape.parse(await cdk.deploy(source));
        apis.set('messaging', apiAt(outputs[`Svc-${region}-Service`].Url));
        apis.set('management', apiAt(outputs['Svc-Management'].ManagementUrl));
        say(`${name} is deployed`);
        return outputs['Svc-Management'].ManagementSecret;
      };

      const secret = await deploy(`the previous release, ${commit},`, before);
      const { username, password } = await findManagement(managing.url, {
        endpoint: awsUrl,
        region,
        name: secret,
      });
      const manage = clientOf(
        managing.url,
        `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      );
      const json = { 'content-type': 'application/json' };
      const made = await manage('POST', '/v2/svc/users', json, JSON.stringify({ type: 'paid', region }));
      const { token } = z.object({ token: z.string() }).parse(made);
      const call = clientOf(messaging.url, `Bearer ${token}`);

      // Each fifth message fails at first, so its retry may be made by another release than its first attempt.
      const inbox = receiver.inbox((delivery, response) => {
        const isRetried = Number(delivery.headers['svc-retried'] ?? 0) > 0;
        const fails = /[05]$/.test(delivery.body.toString()) && !isRetried;
        response.writeHead(fails ? 500 : 200).end();
      });
      const inLine = receiver.inbox();
      const fired = receiver.inbox();
      const publish = async (body: string, delaySeconds: number): Promise<string> =>
        published.parse(
          await call(
            'POST',
            `/v2/publish/${inbox.url}`,
            { 'svc-delay': `${delaySeconds.toString()}s` },
            body,
          ),
        ).messageId;

      await call('POST', '/v2/queues', json, JSON.stringify({ queueName: 'line', parallelism: 1 }));
      await call('POST', '/v2/queues/line/pause');
      const queued = ['first', 'second', 'third'];
      for (const body of queued) await call('POST', `/v2/enqueue/line/${inLine.url}`, {}, body);
      await call('POST', `/v2/schedules/${fired.url}`, { 'svc-cron': '* * * * *' }, 'fire');
      const far = await call('POST', `/v2/publish/${inbox.url}`, { 'svc-delay': '2h' }, 'far');
      const farPath = `/v2/messages/${published.parse(far).messageId}`;
      say('messages wait');

      const publisher = keepPublishing(publish);
      const goesOn = async (): Promise<void> => {
        const fires = fired.deliveries.length;
        await Promise.all([publish('after 1', 0), fired.received(fires + 1), call('GET', farPath)]);
        if (inLine.deliveries.length > 0) throw new Error('A message of a paused queue was delivered.');
      };
      try {
        await goesOn();
        await deploy('this release');
        await goesOn();
        const logged = cdk.log().length;
        await deploy('this release, once more,');
        expectNoChanges(cdk.log().slice(logged));
        await deploy(`the previous release, ${commit},`, before);
        await goesOn();
      } finally {
        await publisher.stop();
      }
      await call('POST', '/v2/queues/line/resume');
      const lined = await inLine.received(queued.length);
      const order = lined.map(({ body }) => body.toString());
      if (order.join() !== queued.join()) throw new Error(`The queue's order was ${order.join()}.`);

      const { accepted, refused } = publisher;
      const arrivedAt = (id: string) =>
        inbox.deliveries.some(({ headers, body }) => {
          const isLast = !/[05]$/.test(body.toString()) || Number(headers['svc-retried'] ?? 0) > 0;
          return headers['svc-message-id'] === id && isLast;
        });
      say(`${accepted.size.toString()} messages were accepted; waiting for the last of them`);
      await inbox.until(() => [...accepted.keys()].every(arrivedAt));
      await call('DELETE', farPath);
      say(
        `all ${accepted.size.toString()} arrived, ${fired.deliveries.length.toString()} fires too; ` +
          `${refused.length.toString()} requests were refused${refused.length > 0 ? `: ${refused.join('\n')}` : ''}`,
      );
    } finally {
      await Promise.all([messaging.close(), managing.close(), receiver.close()]);
    }
  });
}

/** @param log what the CLI wrote of one deployment */
function expectNoChanges(log: ReturnType<Cdk['log']>): void {
  const unchanged = log.match(/\(no changes\)/g)?.length ?? 0;
  if (unchanged !== stackCount) {
    throw new Error(
      `A second deployment changed something; ${unchanged.toString()} stacks had no changes:\n${log}`,
    );
  }
}

endOnSignals();
try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
