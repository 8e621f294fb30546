/**
 * `npm run test:deploy`: the real CDK CLI deploys both regions to an AWS emulator, and the end-to-end tests run
 * against what stands there then. Arguments narrow the tests, as vitest takes them: `npm run test:deploy -- retries`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, functionLogs } from './aws.ts';
import { deploy, type Region, regions } from './cdk.ts';
import { installEmulator, startEmulator } from './emulator.ts';
import { type Api, freePort, openFront, type Front } from './front.ts';
import { cancelPrograms, run } from './program.ts';

const started = Date.now();
const say = (text: string) => {
  console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s] ${text}`);
};

async function main(): Promise<void> {
  installEmulator();
  say('emulator installed');
  // The system's folder for temporary files, because nothing above it is a package: see `startEmulator`.
  const scratch = mkdtempSync(join(tmpdir(), 'svc-deploy-'));
  const port = await freePort();
  const aws = await openFront(port);
  try {
    const emulator = await startEmulator({ port, publicPort: aws.port, scratch: join(scratch, 'emulator') });
    say('emulator started');
    try {
      await deployAndTest(port, aws.url, scratch);
    } catch (error) {
      console.error(`The emulator's last lines:\n${emulator.log(40)}\n`);
      for (const region of regions) {
        const lines = await functionLogs(aws.url, region, 60).catch(String);
        console.error(`The functions' last lines in ${region}:\n${lines}\n`);
      }
      throw error;
    } finally {
      await emulator.stop();
    }
  } finally {
    await aws.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function deployAndTest(port: number, awsUrl: string, scratch: string): Promise<void> {
  // The doors are there before what is behind them, so that the deployment can be told its own hosts.
  const apis = new Map<Region, Api>();
  const doors = new Map<Region, Front>();
  try {
    for (const region of regions) {
      const door = await openFront(port, () => apis.get(region));
      doors.set(region, door);
    }
    const deployed = await deploy({
      scratch,
      endpoint: awsUrl,
      context: {
        retain: 'false',
        // The emulator judges who may touch a schedule as if every one were in this group.
        scheduleGroup: 'default',
        logLevel: 'DEBUG',
        allowedDestinations: '127.0.0.0/8,::1/128,localhost',
        ownHosts: [...doors.values()].map((door) => new URL(door.url).host).join(','),
      },
    });
    say('deployed');

    for (const [region, door] of doors) {
      const { url, createAccountFunction } = deployed[region];
      // The emulator's spelling of <api>.execute-api.<region>.amazonaws.com.
      apis.set(region, {
        host: `${url.hostname.split('.')[0] ?? ''}.execute-api.localhost`,
        stage: url.pathname.slice(1),
      });
      const account = await createAccount(awsUrl, region, createAccountFunction);
      say(`testing ${region}`);
      await run(
        { package: 'vitest', path: 'vitest.mjs', timeoutMs: 600_000 },
        ['run', '--project', 'e2e', ...process.argv.slice(2)],
        {
          SVC_E2E_TARGET: 'deployed',
          SVC_URL: door.url,
          SVC_TOKEN: account.token,
          SVC_READ_ONLY_TOKEN: account.read_only_token,
          SVC_CURRENT_SIGNING_KEY: account.signing_keys.current,
          SVC_NEXT_SIGNING_KEY: account.signing_keys.next,
          SVC_REGION: region,
        },
      );
      say(`${region} is good`);
    }
  } finally {
    await Promise.all([...doors.values()].map((door) => door.close()));
  }
}

// An interrupted run must take its processes with it: what `main` waits for fails, and it cleans up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    process.exitCode = 1;
    cancelPrograms();
  });
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
