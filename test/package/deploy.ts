/**
 * The archive on an AWS emulator. The AWS CLI deploys templates that its command writes. Then its command deploys, and after it the
 * example app takes over the deployment, publishes from one of its functions, and is changed.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { stackResources } from '../../operate/stackResources.ts';
import { readSecret } from '../deploy/aws.ts';
import { openCdk } from '../deploy/cdk.ts';
import { rootUser } from '../deploy/emulator.ts';
import { type Api, apiAt, hostedAt, openFront } from '../deploy/front.ts';
import { withEmulator } from '../deploy/withEmulator.ts';
import { awsCliPackage, findPython, installPackage } from '../support/python.ts';

const region = 'eu-central-1';
const name = 'SvcDev';

interface Tools {
  readonly emptyFolder: (name: string) => string;
  /** @returns the program's output */
  readonly run: (
    cwd: string,
    file: string,
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
  ) => Promise<string>;
  /** The example's folder, with the archive installed. */
  readonly app: string;
  readonly archive: string;
}

/** Settings that only the emulator needs: see `test/deploy/run.ts`. */
const settingsFor = (ownHost: string) => ({
  stage: 'dev',
  regions: [region],
  forEmulator: true,
  scheduleGroup: 'default',
  clientPatience: 10,
  allowedDestinations: ['127.0.0.0/8'],
  ownHosts: [ownHost],
});

const outputsShape = z.object({
  [`${name}-${region}-Service`]: z.object({ ApiUrl: z.url() }),
  [`${name}-Management`]: z.object({ ManagementUrl: z.url(), ManagementSecret: z.string() }),
});
const templateOutputs = z.object({ ApiUrl: z.url(), ManagementUrl: z.url() });
const shopShape = z.object({ Shop: z.object({ ApiUrl: z.url() }) });
const credentialsShape = z.object({ QSTASH_TOKEN: z.string(), QSTASH_URL: z.url() });
const publishedShape = z.object({ messageId: z.string() });
const logsShape = z.object({ logs: z.array(z.object({ messageId: z.string(), state: z.string() })) });
const schedulesShape = z.array(z.object({ scheduleId: z.string(), cron: z.string() }));
const accountsShape = z.array(
  z.object({ customer_id: z.string(), token: z.string(), active: z.boolean(), max_retries: z.number() }),
);

/** The longest wait, in milliseconds, for what takes seconds. */
const limitMs = 300_000;

async function eventually<T>(read: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await read();
    if (isRight(value)) return value;
    if (Date.now() > end) throw new Error(`It did not come: ${JSON.stringify(value)}`);
    await sleep(500);
  }
}

async function ask(url: string, token: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status.toString()}: ${text}`);
  return JSON.parse(text);
}

function expectThat(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`It does not hold: ${sentence}`);
}

/** Replaces a part of the example's source, which must exist. */
function changeApp(app: string, changes: readonly (readonly [string, string])[]): void {
  const file = join(app, 'app.js');
  let text = readFileSync(file, 'utf8');
  for (const [before, after] of changes) {
    expectThat(text.includes(before), `the example has ${before}`);
    text = text.replaceAll(before, after);
  }
  writeFileSync(file, text);
}

/** A stack's template, as the CDK last made it. */
const templateOf = (app: string, stack: string): string =>
  JSON.stringify(JSON.parse(readFileSync(join(app, 'cdk.out', `${stack}.template.json`), 'utf8')));

export const deployPackage = ({ emptyFolder, run, app, archive }: Tools): Promise<void> =>
  withEmulator(async ({ port, awsUrl, scratch, say }) => {
    let [messaging, management]: (Api | undefined)[] = [];
    const fronts = [
      await openFront(port, () => messaging),
      await openFront(port, () => management),
      await openFront(port, hostedAt),
    ] as const;
    const [api, managing, hosted] = fronts;
    const receiver = createServer((request, response) => {
      request.resume().once('end', () => response.end());
    });
    try {
      const settings = settingsFor(new URL(api.url).host);
      const env = { ...openCdk({ scratch, endpoint: awsUrl, context: {} }).env, HOME: process.env['HOME'] };

      // With the command, from a folder that only has the archive.
      const folder = emptyFolder('operator');
      cpSync(archive, join(folder, 'svc-queue.tgz'));
      writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: settings }));
      const svcQueue = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
        run(folder, 'npx', ['--yes', './svc-queue.tgz', ...args], { ...env, ...more });

      // The AWS CLI deploys templates, without the CDK and a bootstrap.
      const commands = await svcQueue(['template', '--bucket', 'code', '--out', 'templates']);
      const awsCli = dirname(await installPackage(findPython() ?? '', awsCliPackage));
      const withAws = { ...env, PATH: `${awsCli}:${process.env['PATH'] ?? ''}` };
      await run(folder, 'sh', ['-e', '-c', commands.replaceAll(/^# /gm, '')], withAws);
      const query = 'Stacks[].Outputs[].[OutputKey, OutputValue]';
      const described = ['cloudformation', 'describe-stacks', '--region', region, '--query', query];
      const ofTemplates = templateOutputs.parse(
        Object.fromEntries(
          z
            .array(z.tuple([z.string(), z.string()]))
            .parse(JSON.parse(await run(folder, 'aws', described, withAws))),
        ),
      );
      messaging = apiAt(new URL(ofTemplates.ApiUrl));
      management = apiAt(new URL(ofTemplates.ManagementUrl));
      const [, password = ''] =
        /^SVC_MANAGEMENT_PASSWORD=(.+)$/m.exec(await svcQueue(['password', '--name', name])) ?? [];
      const manage = { SVC_MANAGEMENT_URL: managing.url, SVC_MANAGEMENT_PASSWORD: password };
      const made = await svcQueue(['accounts', 'create', 'ops@acme.example', 'type=paid'], manage);
      const [, token = ''] = /^SVC_TOKEN=(.+)$/m.exec(made) ?? [];
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const address = receiver.address();
      const destination = `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}/`;
      const sendFirst = async (): Promise<void> => {
        const send = { method: 'POST', body: 'first' };
        const first = await ask(`${api.url}/v2/publish/${destination}`, token, send);
        await isDelivered(token, publishedShape.parse(first).messageId);
      };
      await sendFirst();
      say('the AWS CLI has deployed templates, and a message came');

      // The command deploys, and takes over the deployment.
      await svcQueue(['bootstrap']);
      const outputs = outputsShape.parse(JSON.parse(await svcQueue(['deploy', '--yes', '--json'])));
      messaging = apiAt(new URL(outputs[`${name}-${region}-Service`]?.ApiUrl ?? ''));
      management = apiAt(new URL(outputs[`${name}-Management`]?.ManagementUrl ?? ''));
      say('the command has deployed');

      await sendFirst();
      say('a first message came');

      // With an app, which takes over the deployment.
      const networkFile = join(scratch, 'network.mjs');
      writeFileSync(networkFile, network(hosted.url));
      const behindFront = (url: string): string =>
        `\`${hosted.url}/\${Fn.select(2, Fn.split('/', ${url}))}/\``;
      changeApp(app, [
        ["{ stage: 'dev', regions: [region] }", JSON.stringify(settings)],
        ['{ App, CfnOutput, Stack }', '{ App, CfnOutput, Fn, Stack }'],
        ['url: receiver.url, name', `url: ${behindFront('receiver.url')}, name`],
        ["'RECEIVER_URL', receiver.url", `'RECEIVER_URL', ${behindFront('receiver.url')}`],
        ['destination: receiver.url', `destination: ${behindFront('receiver.url')}`],
        // The emulator's functions cannot reach AWS.
        ['  account.grantPublish(fn);', `  account.grantPublish(fn);\n${load(networkFile)}`],
      ]);
      const deployApp = async (): Promise<unknown> => {
        const file = join(app, 'outputs.json');
        const flags = ['--all', '--require-approval', 'never', '--outputs-file', file];
        await run(app, 'npx', ['cdk', 'deploy', ...flags], env);
        return JSON.parse(readFileSync(file, 'utf8')) as unknown;
      };
      const { Shop } = shopShape.parse(await deployApp());
      say('the app is deployed');
      const order = await fetch(`${hosted.url}/${new URL(Shop.ApiUrl).host}/`, {
        method: 'POST',
        body: '{"items":[1,2]}',
      });
      const { messageId } = publishedShape.parse(await order.json());
      const shopSecret = credentialsShape.parse(JSON.parse(await secretOfShop()));
      // The example's receiver refuses messages that are not signed by the account's keys.
      await isDelivered(shopSecret.QSTASH_TOKEN, messageId);
      say('a message came from a function of the app to another');

      changeApp(app, [
        ['max_retries: 5', 'max_retries: 4'],
        ["cron: '0 6 * * *'", "cron: '0 7 * * *'"],
        ['queue.urlGroup(', 'if (false) queue.urlGroup('],
      ]);
      await deployApp();
      const schedules = schedulesShape.parse(await ask(`${api.url}/v2/schedules`, shopSecret.QSTASH_TOKEN));
      expectThat(
        schedules.map(({ scheduleId, cron }) => `${scheduleId} ${cron}`).join() === 'daily 0 7 * * *',
        'the schedule is changed',
      );
      const groups = z.array(z.unknown()).parse(await ask(`${api.url}/v2/topics`, shopSecret.QSTASH_TOKEN));
      expectThat(groups.length === 0, 'the URL group is deleted');
      const accountOf = async (customer: string) => {
        const all = accountsShape.parse(JSON.parse(await svcQueue(['accounts', '--json'], manage)));
        return all.find(({ customer_id }) => customer_id === customer);
      };
      expectThat((await accountOf('shop'))?.max_retries === 4, 'the limit is changed');
      say('the app is changed');

      // Adds a second account, for which another function may publish, and removes it again.
      const second = "const market = queue.account('market');\nmarket.grantPublish(serve('api2').fn);\n";
      cpSync(join(app, 'api.js'), join(app, 'api2.js'));
      changeApp(app, [['queue.metric(', `${second}queue.metric(`]]);
      await deployApp();
      expectThat((await accountOf('market'))?.active === true, 'a second account is made');
      expectThat(
        !templateOf(app, 'Shop').includes('Fn::ImportValue":"SvcDev-Accounts'),
        'nothing imports its secret',
      );
      changeApp(app, [[second, '']]);
      await deployApp();
      expectThat((await accountOf('market'))?.active === false, 'the second account is suspended');
      expectThat((await accountOf('shop'))?.active === true, 'the first one stays');
      say('one of two accounts went with its grant');

      changeApp(app, [["queue.account('shop'", "queue.account('market'"]]);
      await deployApp();
      expectThat((await accountOf('shop'))?.active === false, 'an account that the app gave up is suspended');
      changeApp(app, [["queue.account('market'", "queue.account('shop'"]]);
      await deployApp();
      const again = await accountOf('shop');
      expectThat(
        again?.active === true && again.token === shopSecret.QSTASH_TOKEN,
        'it comes back with its token',
      );
      say('an account went and came back');
      await svcQueue(['destroy', '--yes', '--stack', `${name}-Management`]);
      say('the command has destroyed a stack');
    } finally {
      receiver.close();
      await Promise.all(fronts.map((front) => front.close()));
    }

    async function isDelivered(token: string, messageId: string): Promise<void> {
      await eventually(
        async () => logsShape.parse(await ask(`${api.url}/v2/logs?messageId=${messageId}`, token)).logs,
        (logs) => logs.some(({ state }) => state === 'DELIVERED'),
      );
    }

    /** The account's credentials, from the deployment's secret. */
    async function secretOfShop(): Promise<string> {
      const client = new CloudFormationClient({
        ...clientOptions('quick'),
        endpoint: awsUrl,
        region,
        credentials: rootUser,
      });
      for (const { type, physicalId } of await stackResources(client, `${name}-Accounts`))
        if (type === 'AWS::SecretsManager::Secret') return readSecret(awsUrl, region, physicalId);
      throw new Error('The app has made no secret.');
    }
  });

/**
 * Code that each function of the app loads on the emulator, which has no name servers and certificates: requests to AWS go to
 * the front, which distinguishes APIs by host.
 */
const network = (front: string): string => `
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const isApi = /\\.execute-api\\.[a-z0-9-]+\\.amazonaws\\.com$/.test(url.hostname);
  return isApi ? send('${front}/' + url.hostname + url.pathname + url.search, init) : send(input, init);
};
`;

/** A line of the app that makes a function load a file first. */
const load = (file: string): string => `  fn.addEnvironment('NODE_OPTIONS', '--import ${file}');`;
