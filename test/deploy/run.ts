/**
 * `npm run test:deploy`: the real CDK CLI deploys both regions to an AWS emulator, and the end-to-end tests run against the
 * deployment: each file in one region, or in both with `SVC_TESTS=thorough`. Arguments are passed to vitest, and these tests
 * run in both regions: `npm run test:deploy -- retries`. `-- half 1` or `-- half 2` runs the tests of one region, `-- runbooks`
 * follows the operators’ documents instead, and `-- instances` changes the setting `longDelivery`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { findManagement } from './management.ts';
import { replicateTable } from './aws.ts';
import { deploy, type Region, regions } from './cdk.ts';
import { withEmulator } from './withEmulator.ts';
import { type Api, apiAt, type Front, freePort, functionUrlAt, openFront } from './front.ts';
import { changeLongDelivery } from './longDelivery.ts';
import { runProgram, run } from './program.ts';
import { destinations, lambdaDestinations, makeReporter } from './reporter.ts';
import { followRunbooks } from './runbooks.ts';

const [first, ...others] = process.argv.slice(2);
/** The half of the files to run; undefined for both. */
const onlyHalf = first === 'half' ? z.enum(['1', '2']).parse(others[0]) : undefined;
/** Arguments for vitest. */
const narrowing = first === 'half' ? [] : process.argv.slice(2);

async function main(): Promise<void> {
  if (first === 'runbooks') await withEmulator(followRunbooks);
  else if (first === 'instances') await changeLongDelivery();
  else await testDeployment();
}

const testDeployment = (): Promise<void> =>
  withEmulator(async ({ port, awsUrl, scratch, say }) => {
    try {
      await deployAndTest(port, awsUrl, scratch, say);
    } catch (error) {
      // Printed last, because readers often see only the end of a log.
      console.error(failedTests(resultsIn(scratch)));
      throw error;
    }
  });

/** The messaging APIs and the publish URLs by their regions, and the management API. */
type ApiName = Region | `publish ${Region}` | 'management';

async function deployAndTest(
  port: number,
  awsUrl: string,
  scratch: string,
  say: (text: string) => void,
): Promise<void> {
  // Fronts listen before their APIs exist, so that the deployment can be told its own hosts.
  const apis = new Map<ApiName, Api>();
  const fronts: Front[] = [];
  const openFrontOf = async (name: ApiName): Promise<string> => {
    const front = await openFront(port, () => apis.get(name));
    fronts.push(front);
    return front.url;
  };
  try {
    const [home, other] = regions;
    const proxyPort = await freePort();
    const domain = 'queue.example.com/queue';
    const urls = {
      [home]: await openFrontOf(home),
      [other]: await openFrontOf(other),
      [`publish ${home}`]: await openFrontOf(`publish ${home}`),
      [`publish ${other}`]: await openFrontOf(`publish ${other}`),
      management: await openFrontOf('management'),
    };
    const deployed = await deploy({
      scratch,
      endpoint: awsUrl,
      context: {
        retain: 'false',
        // The emulator checks the rights on each schedule as if it were in this group.
        scheduleGroup: 'default',
        logLevel: 'DEBUG',
        // On a busy machine the emulator needs seconds for a call.
        clientPatience: '10',
        allowedDestinations: '127.0.0.0/8,::1/128,localhost',
        destinations,
        lambdaDestinations,
        // Deliveries to this machine bypass the proxy. A test plays the proxy for other addresses.
        outboundProxy: `http://user:secret@127.0.0.1:${proxyPort.toString()}`,
        // On AWS, APIs learn each other’s hosts. The emulator’s events have no hosts, so they are given here.
        ownHosts: Object.values(urls)
          .map((url) => new URL(url).host)
          .join(','),
        // Everything that the emulator can make is on; a domain and a VPC only in one region, so that the other has none. The
        // emulator cannot put a firewall before a stage (AWS::WAFv2::WebACLAssociation), save queries
        // (AWS::Logs::QueryDefinition) or alarm on computed metrics: `forEmulator` leaves these out. It also has no fixed
        // addresses (AWS::EC2::NatGateway), no endpoints for the functions’ security group (AWS::EC2::SecurityGroupIngress) and
        // no hosted zone. Its functions run on this machine in any VPC.
        forEmulator: 'true',
        publishUrl: 'true',
        tracing: 'true',
        alarmEmails: 'ops@example.com',
        firewall: 'true',
        domains: `${other}=${domain}`,
        certificates: `arn:aws:acm:${other}:000000000000:certificate/0a1b2c3d`,
        vpcs: `${other}=vpc-0a1b2c3d`,
        subnets: `${other}=subnet-0a1b2c3d`,
        // For the tests of budgets. Other accounts have no budget.
        pricePerMessage: '0.1',
      },
    });
    apis.set('management', apiAt(deployed.management.url));
    for (const region of regions) {
      apis.set(region, apiAt(deployed.urls[region]));
      apis.set(`publish ${region}`, functionUrlAt(deployed.publishUrls[region]));
    }
    await replicateTable(awsUrl, 'Svc-accounts', { from: home, to: [other] });
    say('deployed');

    const management = await findManagement(urls.management, {
      endpoint: awsUrl,
      region: home,
      name: deployed.management.secret,
    });
    const runsAllInBoth = process.env['SVC_TESTS'] === 'thorough' || narrowing.length > 0;
    for (const [region, elsewhere, half] of [
      [home, other, '1'],
      [other, home, '2'],
    ] as const) {
      if (onlyHalf !== undefined && half !== onlyHalf) continue;
      say(`testing ${region}`);
      await run(
        { package: 'vitest', path: 'vitest.mjs', timeoutMs: 3_600_000 },
        [
          ...['run', '--project', 'e2e', '--reporter=default', '--reporter=json'],
          // The emulator is one process, and starts one for each concurrent request of a function.
          '--maxWorkers=3',
          // While it starts many, AWS calls hang until the function times out. A test that fails twice has failed.
          '--retry=1',
          `--outputFile.json=${resultsIn(scratch)}`,
          ...(runsAllInBoth ? [] : [`--shard=${half}/2`]),
          ...narrowing,
        ],
        {
          SVC_E2E_TARGET: 'deployed',
          SVC_URL: urls[region],
          SVC_PUBLISH_URL: urls[`publish ${region}`],
          SVC_REGION: region,
          SVC_MANAGEMENT_URL: management.url,
          SVC_MANAGEMENT_USER: management.username,
          SVC_MANAGEMENT_PASSWORD: management.password,
          SVC_OTHER_REGION: elsewhere,
          SVC_OTHER_URL: urls[elsewhere],
          SVC_REPORTER_ARN: await makeReporter(awsUrl, region, scratch),
          SVC_AWS_URL: awsUrl,
          SVC_PROXY_PORT: proxyPort.toString(),
          SVC_DOMAIN: domain,
          SVC_DOMAIN_REGION: other,
        },
      );
      say(`${region} is good`);
    }
  } finally {
    await Promise.all(fronts.map((front) => front.close()));
  }
}

/** The results of the last tests. */
const resultsIn = (scratch: string): string => join(scratch, 'results.json');

const resultsShape = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

/** The failed tests, each with its file and the beginning of its error. */
function failedTests(file: string): string {
  if (!existsSync(file)) return 'No tests ran to their end.';
  const { testResults } = resultsShape.parse(JSON.parse(readFileSync(file, 'utf8')));
  return testResults
    .flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`FAILED ${name}: ${message}`]),
      ...assertionResults
        .filter(({ status }) => status === 'failed')
        .map(
          ({ fullName, failureMessages }) =>
            `FAILED ${name}: ${fullName}\n${failureMessages.join('\n').slice(0, 1500)}`,
        ),
    ])
    .join('\n');
}

await runProgram(main);
