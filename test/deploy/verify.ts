/**
 * `npm run test:verify`: deploys both regions to an AWS emulator, and runs `npm run verify` as an operator would: before and
 * after the deployment, interrupted and killed, during a release, and after each of some twenty sabotages, which it must
 * report. Arguments select sabotages by the names of their checks; `slow` means the slow checks and the release.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { CloudFormationClient, ListStacksCommand } from '@aws-sdk/client-cloudformation';
import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { wantedTables } from '../../verify/after/watch/dataChecks.ts';
import { clientsIn } from '../../verify/clients.ts';
import { readDeployment } from '../../verify/deployment.ts';
import { stackResources } from '../../operate/stackResources.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { replicateTable } from './aws.ts';
import { type Cdk, openCdk, regions } from './cdk.ts';
import { hostedAt, openFront } from './front.ts';
import { endWithRun, runProgram } from './program.ts';
import { sabotages } from './sabotages.ts';
import { settings } from './verifySettings.ts';
import { withEmulator } from './withEmulator.ts';

const root = resolve(import.meta.dirname, '../..');
const [home, other] = regions;

/**
 * The checks that no emulator can make, which are skipped by name, and those of settings that this deployment does not have.
 */
const onlyOnAws = [
  'binary-body',
  'denied-trail',
  'domains',
  'firewall',
  'publish-url-bytes',
  'query-bytes',
  'sender-address',
  'unreadable',
  'usage',
];

/** The slow checks that an emulator can make in minutes. Others take longer, or need features that it lacks. */
const slow = ['burst', 'slow-host', 'killed-worker'];

/**
 * How long to wait, in seconds: for things that usually happen at once, on a busy machine; and for things
 * that a sabotage prevents.
 */
const [patient, brief] = ['240', '25'];

const report = z.object({
  good: z.boolean(),
  outcomes: z.array(
    z.object({ check: z.string(), region: z.string(), result: z.string(), seen: z.string() }),
  ),
});
type Report = z.output<typeof report>;

interface Ended {
  readonly status: number | null;
  readonly stderr: string;
  /** Undefined if the command printed no result. */
  readonly report: Report | undefined;
}

interface Verifier {
  readonly cdk: Cdk;
  readonly front: string;
  readonly say: (text: string) => void;
}

/**
 * Runs `svc-queue verify`.
 *
 * @param signal sent to it once it has made its resources
 */
function verify(
  { cdk, front, say }: Verifier,
  args: readonly string[],
  signal?: 'SIGINT' | 'SIGKILL',
): Promise<Ended> {
  const context = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return new Promise((done, failed) => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'bin/svcQueue.ts', 'verify', '--json', ...context, ...args],
      {
        cwd: root,
        env: { ...process.env, ...cdk.env, CLIENT_PATIENCE: '10', SVC_VERIFY_FRONT: front },
        timeout: 6 * limitForHangsMs,
        // A process group, which a cancelled run ends as a whole.
        detached: true,
      },
    );
    endWithRun(child);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data: Buffer) => {
      stdout += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
      // Only once, because a second Ctrl-C ends it at once.
      const isReady = stderr.includes('the receiver and the account are made');
      if (signal !== undefined && isReady && !child.killed) child.kill(signal);
    });
    child.once('error', failed);
    child.once('close', (status) => {
      say(`verify ${args.join(' ')} ended with ${String(status)}`);
      done({ status, stderr, report: stdout === '' ? undefined : report.parse(JSON.parse(stdout)) });
    });
  });
}

function expectThat(holds: boolean, sentence: string, ended: Ended): void {
  if (!holds)
    throw new Error(
      `It does not hold: ${sentence}\n${ended.stderr}\n${JSON.stringify(ended.report, undefined, 1)}`,
    );
}

/** The names of the checks with a result, without repetition. */
const checksThat = (result: string, { report: found }: Ended): readonly string[] => [
  ...new Set(found?.outcomes.filter((one) => one.result === result).map(({ check }) => check)),
];

/** Finds the stacks of a region. */
async function stacksIn(endpoint: string, region: string): Promise<readonly string[]> {
  const client = new CloudFormationClient({ ...clientOptions('quick'), endpoint, region });
  const { StackSummaries = [] } = await client.send(new ListStacksCommand({}));
  return StackSummaries.flatMap(({ StackName = '', StackStatus }) =>
    StackStatus === 'DELETE_COMPLETE' ? [] : [StackName],
  );
}

/** Whether nothing of a run is left. */
async function isTidy(endpoint: string, region: string): Promise<boolean> {
  return !(await stacksIn(endpoint, region)).includes('Svc-Verify');
}

async function main(): Promise<void> {
  const only = process.argv.slice(2);
  await withEmulator(async ({ port, awsUrl, scratch, say }) => {
    const front = await openFront(port, hostedAt);
    const cdk = openCdk({ scratch, endpoint: awsUrl, context: settings });
    // This program calls AWS like the operator.
    for (const [name, value] of Object.entries(cdk.env)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    try {
      await cdk.bootstrap(regions);
      const verifier = { cdk, front: front.url, say };
      if (only.length === 0) {
        const before = await verify(verifier, ['--before']);
        expectThat(before.status === 0, 'an empty account is good for the deployment', before);
        for (const region of regions)
          expectThat(
            (await stacksIn(awsUrl, region)).join() === 'CDKToolkit',
            `no change set has left a stack in ${region}`,
            before,
          );
      }
      await cdk.deploy();
      await replicateTable(awsUrl, 'Svc-accounts', { from: home, to: [other] });
      for (const region of regions) await expireRows(region);
      say('deployed');
      if (only.length === 0) await proveGood(verifier, awsUrl);
      if (only.length === 0 || only.includes('slow')) await proveSlow(verifier);
      await proveSabotages(verifier, awsUrl, only);
    } finally {
      await front.close();
    }
  });
}

/** Makes a region’s tables expire their rows, because the emulator’s CloudFormation ignores this setting. */
async function expireRows(region: string): Promise<void> {
  const { cloudFormation, dynamodb } = clientsIn(region);
  const { stacks: templates } = readDeployment(settings);
  const own = templates.filter((stack) => stack.region === region).map(({ name }) => name);
  const resources = (await Promise.all(own.map((name) => stackResources(cloudFormation, name)))).flat();
  for (const { table: TableName, expiry: AttributeName } of wantedTables({ templates, resources, region }))
    if (AttributeName !== undefined)
      await dynamodb.send(
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName, Enabled: true },
        }),
      );
}

async function proveGood(verifier: Verifier, endpoint: string): Promise<void> {
  const again = await verify(verifier, ['--before']);
  expectThat(again.status === 0, 'what is deployed is not in its own way', again);

  const interrupted = await verify(verifier, ['--region', home], 'SIGINT');
  expectThat(interrupted.status === 2 && interrupted.report === undefined, 'Ctrl-C ends it', interrupted);
  expectThat(await isTidy(endpoint, home), 'and it has taken away what it made', interrupted);

  const killed = await verify(verifier, ['--region', home], 'SIGKILL');
  expectThat(!(await isTidy(endpoint, home)), 'killed, it takes nothing away', killed);

  const good = await verify(verifier, ['--wait', patient]);
  expectThat(good.status === 0, 'the deployment is good', good);
  expectThat(
    good.stderr.includes(`${home}: the account and the receiver of a run are taken away`),
    'what was left behind is taken away by the next run',
    good,
  );
  // An account is changed in the first region and seen in the other.
  const made = checksThat('good', good);
  const skipped = checksThat('skipped', good).filter((check) => !made.includes(check));
  expectThat(
    skipped.toSorted().join() === onlyOnAws.join(),
    `only ${onlyOnAws.join(', ')} are skipped`,
    good,
  );
  for (const region of regions)
    expectThat(await isTidy(endpoint, region), `nothing is left of it in ${region}`, good);
}

/** Runs the slow checks, and a release with its way back under traffic; then a release whose command fails. */
async function proveSlow(verifier: Verifier): Promise<void> {
  const slowly = await verify(verifier, ['--region', home, '--only', slow.join(), '--wait', patient]);
  expectThat(slowly.status === 0, 'slow checks are good by name', slowly);
  for (const { check, seen } of slowly.report?.outcomes ?? []) verifier.say(`${check}: ${seen}`);

  const context = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const deployWith = (logLevel: string): string =>
    [
      `"${process.execPath}"`,
      '--import tsx bin/svcQueue.ts deploy --yes',
      ...regions.map((region) => `--region ${region}`),
      ...context,
      `-c logLevel=${logLevel}`,
    ].join(' ');
  const commands = ['--upgrade', deployWith('DEBUG'), '--back', deployWith('INFO')];
  const released = await verify(verifier, ['--release', ...commands, '--wait', patient]);
  expectThat(released.status === 0, 'a release and its way back lose nothing', released);
  for (const { region, seen } of released.report?.outcomes ?? [])
    verifier.say(`release in ${region}: ${seen}`);

  const failed = await verify(verifier, [
    '--region',
    home,
    '--release',
    '--upgrade',
    'exit 3',
    '--wait',
    brief,
  ]);
  expectThat(
    failed.status === 1 && checksThat('short', failed).join() === 'release',
    'a command that fails is shown',
    failed,
  );
  expectThat(
    failed.report?.outcomes[0]?.seen === 'The command "exit 3" ended with 3.',
    'the sentence names the command',
    failed,
  );
}

async function proveSabotages(verifier: Verifier, endpoint: string, only: readonly string[]): Promise<void> {
  const { cloudFormation } = clientsIn(home);
  const stacks = [`Svc-${home}-State`, `Svc-${home}-Service`];
  const resources = (await Promise.all(stacks.map((name) => stackResources(cloudFormation, name)))).flat();
  for (const { what, check, strike } of sabotages) {
    if (only.length > 0 && !only.includes(check)) continue;
    const mend = await strike({ endpoint, region: home, resources });
    const run = ['--region', home, '--only', check, '--wait'];
    const broken = await verify(verifier, [...run, brief]);
    expectThat(
      broken.status === 1 && checksThat('short', broken).includes(check),
      `${check} shows that ${what}`,
      broken,
    );
    verifier.say(`${what}: ${String(broken.report?.outcomes[0]?.seen)}`);
    if (mend === undefined) continue;
    await mend();
    const mended = await verify(verifier, [...run, patient]);
    expectThat(mended.status === 0, `${check} shows that it is mended`, mended);
  }
}

// The SDK would warn about this Node version.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
await runProgram(main);
