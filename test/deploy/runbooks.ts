/**
 * Follows docs/deploy.md, docs/operate.md, docs/recovery.md and docs/removal.md on an AWS emulator, from an empty account to an
 * empty account: runs all their shell blocks unchanged in one shell, and writes their settings into `cdk.json`.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { type Block, blocksOf } from '../support/docs/blocks.ts';
import { installAwsCli } from '../support/docs/commands.ts';
import { replicateTable } from './aws.ts';
import { openCdk } from './cdk.ts';
import { account } from './emulator.ts';
import { type Api, apiAt, openFront } from './front.ts';
import { endWithRun, killGroup } from './program.ts';
import type { Running } from './withEmulator.ts';

const root = resolve(import.meta.dirname, '../..');
const home = 'eu-central-1';

/** The beginnings of commands that are not run, with the reason. `npm test` checks their arguments. */
const notRun: Readonly<Record<string, string>> = {
  'aws secretsmanager remove-regions-from-replication':
    'The emulator cannot end the replication of a secret.',
  'svc-queue verify': '`npm run test:verify` runs it on an emulator, and after sabotages.',
};

/** Makes a program that skips and notes the commands that are not run. */
const standIn = (program: string, real: string): string =>
  [
    '#!/usr/bin/env bash',
    `case "${program} $*" in`,
    ...Object.keys(notRun).map((start) => `  '${start}'*) echo '${start}' >> "$NOT_RUN"; exit ;;`),
    'esac',
    `PATH="\${PATH#*${delimiter}}"`,
    real,
    '',
  ].join('\n');

const programs = (aws: string): Readonly<Record<string, string>> => ({
  // Its SQS requests use another host, unless the endpoint is an argument.
  aws: standIn('aws', `exec ${aws} --endpoint-url "$AWS_ENDPOINT_URL" "$@"`),
  // `drain --once` exits with 1 while something is left, as the document says.
  npx: standIn('npx', 'shift; PATH="${0%/npx}:$PATH" exec svc-queue "$@"'),
  npm: standIn('npm', '[[ $1 == install ]]'),
  'svc-queue': standIn(
    'svc-queue',
    `run() { node --import tsx bin/svcQueue.ts "$@"; }
[[ "$*" == *" --once" ]] || { run "$@"; exit; }
run "$@" || [[ $? == 1 ]]`,
  ),
  curl: standIn('curl', 'exec curl --fail-with-body --silent --show-error "$@"'),
});

/** Makes a folder like the reader’s clone, with another `cdk.json`. */
function makeClone(folder: string): void {
  mkdirSync(folder);
  const shared = ['bin', 'cli', 'console', 'lambdas', 'lib', 'local', 'migrate', 'node_modules', 'operate'];
  for (const name of [...shared, 'package.json', 'tsconfig.json'])
    symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, 'cdk.json'), join(folder, 'cdk.json'));
}

const configShape = z.looseObject({ context: z.record(z.string(), z.unknown()).default({}) });
const readConfig = (folder: string) =>
  configShape.parse(JSON.parse(readFileSync(join(folder, 'cdk.json'), 'utf8')));

/** Adds the settings of a document’s JSON block to `cdk.json`. */
function addSettings(folder: string, block: unknown): void {
  const before = readConfig(folder);
  const added = configShape.parse(block);
  const context = { ...before.context, ...added.context };
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ ...before, ...added, context }));
}

interface Shell {
  /** Runs commands, and returns their output. @throws Error if one fails */
  readonly run: (text: string) => Promise<string>;
  readonly end: () => void;
}

/** Opens a shell that keeps its variables between blocks and exits at the first failing command. */
function openShell(folder: string, env: Readonly<Record<string, string | undefined>>): Shell {
  const child = spawn('bash', ['-s'], {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endWithRun(child);
  const lines = createInterface({ input: child.stdout });
  const end = '== the block is done ==';
  child.stdin.write('exec 2>&1; set -euo pipefail\n');
  return {
    run: (text) =>
      new Promise((done, failed) => {
        const output: string[] = [];
        const take = (line: string): void => {
          if (line !== end) output.push(line);
          else
            finish(() => {
              done(output.join('\n'));
            });
        };
        const close = (): void => {
          finish(() => {
            failed(new Error(`It failed:\n${text}\n${output.slice(-60).join('\n')}`));
          });
        };
        const finish = (settle: () => void): void => {
          lines.off('line', take).off('close', close);
          settle();
        };
        lines.on('line', take).on('close', close);
        child.stdin.write(`{\n${text}\n} < /dev/null\nprintf '\\n%s\\n' '${end}'\n`);
      }),
    end: () => {
      killGroup(child);
    },
  };
}

/**
 * The blocks in the order of reading: `removal.md` ends with the removal of everything. The steps after a failed first
 * deployment are left out, because this one succeeds.
 */
function blocksInOrder(): readonly Block[] {
  const text = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
  const lineOf = (heading: string): number => {
    const at = text.indexOf(`\n## ${heading}\n`);
    if (at === -1) throw new Error(`docs/deploy.md has no section "${heading}".`);
    return text.slice(0, at).split('\n').length;
  };
  const [failed, goesOn] = [lineOf('When the first deployment fails'), lineOf('What is where')];
  const line = ({ at }: Block): number => Number(at.split(':')[1]);
  return [
    ...blocksOf('docs/deploy.md').filter((block) => line(block) < failed || line(block) > goesOn),
    ...blocksOf('docs/operate.md'),
    ...blocksOf('docs/recovery.md'),
    ...blocksOf('docs/removal.md'),
  ];
}

const stacksShape = z.object({
  Stacks: z.array(
    z.object({
      StackName: z.string(),
      Outputs: z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() })).default([]),
    }),
  ),
});
const accountShape = z.object({ id: z.string(), token: z.string() });

export async function followRunbooks({ port, awsUrl, scratch, say }: Running): Promise<void> {
  const interpreter = await installAwsCli();
  if (interpreter === undefined) throw new Error('The AWS CLI needs Python 3.10 or newer.');
  const apis: { messaging?: Api; management?: Api } = {};
  const messaging = await openFront(port, () => apis.messaging);
  const managing = await openFront(port, () => apis.management);
  const [folder, tools, skipped] = [
    join(scratch, 'svc-queue'),
    join(scratch, 'tools'),
    join(scratch, 'not-run'),
  ];
  makeClone(folder);
  mkdirSync(tools);
  writeFileSync(skipped, '');
  for (const [name, script] of Object.entries(programs(join(dirname(interpreter), 'aws'))))
    writeFileSync(join(tools, name), script, { mode: 0o755 });
  const { env } = openCdk({ scratch, endpoint: awsUrl, context: {} });
  // Settings for the emulator only are in the user’s own file: see `run.ts`.
  writeFileSync(
    join(scratch, '.cdk.json'),
    JSON.stringify({
      requireApproval: 'never',
      context: {
        forEmulator: 'true',
        scheduleGroup: 'default',
        clientPatience: '10',
        ownHosts: [messaging, managing].map(({ url }) => new URL(url).host).join(','),
      },
    }),
  );
  const shell = openShell(folder, {
    ...env,
    AWS_REGION: undefined,
    AWS_DEFAULT_REGION: undefined,
    CLIENT_PATIENCE: '10',
    NOT_RUN: skipped,
    PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`,
    // The answer to each question of the CLI.
    CDK_YES: 'true',
  });

  const places = new Map([
    ['account id', account],
    ['ManagementUrl', managing.url],
    ['Url', messaging.url],
    ['new release', '0.2.0'],
    ['old release', '0.1.0'],
    ['version', '1'],
    ['region', home],
  ]);
  const filledIn = (text: string): string =>
    text.replaceAll(/<([A-Za-z][\w -]*)>/g, (_all, place: string) => {
      const value = place === 'moment' ? new Date(Date.now() - 1_000).toISOString() : places.get(place);
      if (value === undefined) throw new Error(`There is nothing for <${place}>.`);
      return value;
    });

  /** Actions of AWS or the reader before some blocks: texts in blocks, each with its commands. */
  const before: readonly (readonly [RegExp, string])[] = [
    [/restore-secret/, 'aws secretsmanager delete-secret --secret-id Svc/master'],
    [
      /import-existing-resources/,
      `for region in us-east-1 ${home}; do
         aws cloudformation update-termination-protection --region $region --stack-name Svc-$region-State --no-enable-termination-protection
       done
       svc-queue destroy`,
    ],
    // The version before is no longer in use then.
    [
      /lambda delete-function/,
      `aws lambda update-alias --function-name "$function" --name live --function-version '$LATEST'`,
    ],
    [
      /svc-queue redrive/,
      `aws sqs send-message --queue-url "$(resource Service SQS::Queue QueuesUndeliveredFires)" \\
         --message-body '{"accountId":"none","scheduleId":"none","saveId":"01K00000000000000000000000","time":"2026-03-22T18:59:00Z"}'`,
    ],
  ];

  const afterDeployment = async (): Promise<void> => {
    const answer = await shell.run(`aws cloudformation describe-stacks --region ${home} --output json`);
    const outputs = new Map(
      stacksShape
        .parse(JSON.parse(answer))
        .Stacks.flatMap(({ StackName, Outputs }) =>
          Outputs.map((output) => [`${StackName} ${output.OutputKey}`, output.OutputValue] as const),
        ),
    );
    apis.messaging = apiAt(new URL(outputs.get(`Svc-${home}-Service ApiUrl`) ?? ''));
    apis.management = apiAt(new URL(outputs.get('Svc-Management ManagementUrl') ?? ''));
    const { context } = readConfig(folder);
    const regions = z.array(z.string()).default([home, 'us-east-1']).parse(context['regions']);
    for (const region of regions.slice(1)) {
      const replica = `aws dynamodb describe-table --region ${region} --table-name Svc-accounts || true`;
      if ((await shell.run(replica)).includes('ResourceNotFoundException'))
        await replicateTable(awsUrl, 'Svc-accounts', { from: home, to: [region] });
    }
  };

  try {
    for (const { at, language, text } of blocksInOrder()) {
      if (language === 'json') {
        addSettings(folder, JSON.parse(text));
        continue;
      }
      for (const [, commands] of before.filter(([pattern]) => pattern.test(text))) await shell.run(commands);
      const output = await shell.run(filledIn(text));
      say(`${at} is good`);
      if (/svc-queue\S* deploy/.test(text)) await afterDeployment();
      const made = /^# id: (?<id>\S+)$.*^SVC_TOKEN=(?<token>\S+)$/ms.exec(output);
      if (made !== null) {
        const { id, token } = accountShape.parse(made.groups);
        places.set('id', id).set('token', token);
      }
    }
    const left = await shell.run(
      `for region in ${home} us-east-1; do
         aws cloudformation list-stacks --region $region --output text \\
           --query "StackSummaries[?starts_with(StackName, 'Svc-') && StackStatus!='DELETE_COMPLETE'].StackName"
         aws dynamodb list-tables --region $region --output text --query 'TableNames'
         aws s3api list-buckets --output text --query "Buckets[?starts_with(Name, 'svc-$region')].Name"
         aws secretsmanager list-secrets --region $region --output text --query "SecretList[?starts_with(Name, 'Svc/')].Name"
       done`,
    );
    if (left.trim() !== '') throw new Error(`This is left after all was deleted:\n${left}`);
    const unused = Object.keys(notRun).filter((start) => !readFileSync(skipped, 'utf8').includes(start));
    if (unused.length > 0)
      throw new Error(`These commands are no longer in any document: ${unused.join(', ')}`);
    say('the runbooks are good');
  } finally {
    shell.end();
    await Promise.all([messaging.close(), managing.close()]);
  }
}
