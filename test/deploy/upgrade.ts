/**
 * `npm run test:upgrade`: deploys the previous release to an AWS emulator, then this release, then the previous one again,
 * while messages are published and others wait. Every accepted message must arrive. An argument names another commit as the
 * previous release: `npm run test:upgrade -- v0.1.0`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '../support/receiver.ts';
import type { Cdk } from './cdk.ts';
import { pauseLine, withOneRegion } from './oneRegion.ts';
import { runProgram } from './program.ts';

/** The last commit of the previous release; before the first one, an earlier state. Change it with each release. */
const previousRelease = '6fc06bc1';

const root = resolve(import.meta.dirname, '../..');

/** One region’s stacks and the management API’s. */
const stackCount = 3;

/** The pause between two messages, so that messages are in every state at every moment. */
const paceMs = 500;

/** Writes a commit’s files into a folder, with its packages. */
function checkOut(commit: string, folder: string): string {
  mkdirSync(folder);
  const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: files });
  const [lock, locked] = [folder, root].map((place) =>
    readFileSync(join(place, 'package-lock.json'), 'utf8'),
  );
  if (lock === locked) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  return folder;
}

/** Publishes until it is stopped, with delays that reach beyond the current deployment. */
function keepPublishing(publish: (body: string, delaySeconds: number) => Promise<string>) {
  const accepted = new Map<string, string>();
  const refused: string[] = [];
  const stopping = new AbortController();
  const running = (async () => {
    for (let number = 0; !stopping.signal.aborted; number += 1) {
      const body = `message ${number.toString()}`;
      try {
        accepted.set(await publish(body, [0, 10, 60, 150][number % 4] ?? 0), body);
      } catch (error) {
        // Nothing was accepted. A client would see the error and send the message again.
        refused.push(String(error));
      }
      await sleep(paceMs);
    }
  })();
  return {
    accepted,
    refused,
    stop: async (): Promise<void> => {
      stopping.abort();
      await running;
    },
  };
}

async function main(): Promise<void> {
  const [commit = previousRelease] = process.argv.slice(2);
  const name = `the previous release, ${commit},`;
  let before = '';
  await withOneRegion(
    ({ scratch }) => {
      before = checkOut(commit, join(scratch, 'previous'));
      return { name, source: before };
    },
    async ({ cdk, receiver, call, publish, deploy, goBack, say }) => {
      // Every fifth message fails at first, so that another release may make its retry.
      const inbox = receiver.inbox((delivery, response) => {
        response.writeHead(failsAtFirst(delivery) && !isRetried(delivery) ? 500 : 200).end();
      });
      const fired = receiver.inbox();
      const line = await pauseLine(call, receiver);
      await call('POST', `/v2/schedules/${fired.url}`, { 'svc-cron': '* * * * *' }, 'fire');
      const farPath = `/v2/messages/${await publish(inbox.url, 'far', 7_200)}`;
      say('messages wait');

      const publisher = keepPublishing((body, delaySeconds) => publish(inbox.url, body, delaySeconds));
      const goesOn = async (): Promise<void> => {
        const fires = fired.deliveries.length;
        await Promise.all([fired.received(fires + 1), call('GET', farPath)]);
        if (line.inbox.deliveries.length > 0) throw new Error('A message of a paused queue was delivered.');
      };
      try {
        await goesOn();
        await deploy('this release');
        await goesOn();
        const logged = cdk.log().length;
        await deploy('this release, once more,');
        expectNoChanges(cdk.log().slice(logged));
        await goBack(name, before);
        await goesOn();
      } finally {
        await publisher.stop();
      }
      await line.resume();

      const { accepted, refused } = publisher;
      say(`${accepted.size.toString()} messages were accepted; waiting for the last of them`);
      const missingIn = (all: readonly Delivery[]): readonly string[] => {
        const arrived = all.filter((delivery) => !failsAtFirst(delivery) || isRetried(delivery));
        const ids = new Set(arrived.map(({ headers }) => headers['svc-message-id']));
        return [...accepted.keys()].filter((id) => !ids.has(id));
      };
      try {
        await inbox.until((all) => missingIn(all).length === 0);
      } catch (error) {
        for (const id of missingIn(inbox.deliveries)) {
          const shown = await call('GET', `/v2/messages/${id}`).catch(String);
          say(`${id}, ${accepted.get(id) ?? ''}, did not arrive: ${JSON.stringify(shown)}`);
        }
        throw error;
      }
      await call('DELETE', farPath);
      say(
        `all ${accepted.size.toString()} arrived, ${fired.deliveries.length.toString()} fires too; ` +
          `${refused.length.toString()} requests were refused${refused.length > 0 ? `: ${refused.join('\n')}` : ''}`,
      );
    },
  );
}

const failsAtFirst = ({ body }: Delivery): boolean => /[05]$/.test(body.toString());
const isRetried = ({ headers }: Delivery): boolean => Number(headers['svc-retried'] ?? 0) > 0;

/** @param log the CLI’s output for one deployment */
function expectNoChanges(log: ReturnType<Cdk['log']>): void {
  const unchanged = log.match(/\(no changes\)/g)?.length ?? 0;
  if (unchanged !== stackCount) {
    throw new Error(
      `A second deployment changed something; ${unchanged.toString()} stacks had no changes:\n${log}`,
    );
  }
}

await runProgram(main);
