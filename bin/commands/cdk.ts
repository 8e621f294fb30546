/** `svc-queue bootstrap`, `deploy`, `diff`, `drift` and `destroy`: the CDK's commands with the service's app. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import * as z from 'zod';
import { runCommand } from '../runCommand.ts';
import { stages } from '../../lib/presets.ts';
import { hasCdk, runBesideCdk, runCdk } from '../cdk.ts';
import { command, Ending, oneMore, parse, region, setting, textLike } from '../../cli/commandLine.ts';

export const names = ['bootstrap', 'deploy', 'diff', 'drift', 'destroy'] as const;
type Name = (typeof names)[number];

const abouts: Readonly<Record<Name, string>> = {
  bootstrap:
    'Prepares the AWS account for deployments to the regions in the settings, once for each account and region.',
  deploy: 'Deploys the service to AWS, changed settings, or a newer version.',
  diff: 'Shows what a deployment would change.',
  drift: 'Shows changes that were made by hand. `deploy -- --revert-drift` restores the templates’ state.',
  destroy: 'Deletes the stacks of a deployment. Data stays with the setting retain, which is the default.',
};

const examples: Readonly<Record<Name, string>> = {
  bootstrap: '  svc-queue bootstrap --region eu-central-1',
  deploy: `  svc-queue deploy --region eu-central-1 -c monitoring=false
  svc-queue deploy --region eu-central-1 --region us-east-1
  svc-queue deploy --stage dev --region us-east-1 --yes
  svc-queue deploy --region eu-central-1 --stack Svc-Management -- --verbose`,
  diff: '  svc-queue diff --region eu-central-1 --fail',
  drift: '  svc-queue drift --region eu-central-1 --fail',
  destroy: '  svc-queue destroy --region eu-central-1',
};

export const notes = `
Settings also come from "context" in the cdk.json of this folder, and flags override them. Put settings there that the next deployment
needs, too. Credentials and their region are those of the AWS CLI: AWS_PROFILE, AWS_ACCESS_KEY_ID.`;

interface CdkCommand {
  readonly name: Name;
  /** For the CDK's CLI, before the arguments that name the app. */
  readonly args: readonly string[];
  readonly isJson: boolean;
}

const each = (flag: string, values: readonly string[]): readonly string[] =>
  values.flatMap((value) => [flag, value]);

const flagsOf: Readonly<Record<'stack' | 'yes' | 'fail' | 'json', readonly Name[]>> = {
  stack: ['deploy', 'diff', 'drift', 'destroy'],
  yes: ['deploy', 'destroy'],
  fail: ['diff', 'drift'],
  json: ['deploy'],
};

/** A command with flags for the settings of a deployment. */
export const settingsCommand = (name: string, about: string) =>
  command(name, about)
    .option(
      '--region <region>',
      'a region of the deployment; repeatable, the first gets the management API',
      oneMore(region),
    )
    .option('--name <name>', 'of the deployment: Svc by default', textLike(/./, 'the name of a deployment'))
    .option(
      '--stage <stage>',
      `settings for a purpose: ${stages.join(', ')}`,
      textLike(new RegExp(`^(${stages.join('|')})$`), stages.join(' or ')),
    )
    .option('-c, --context <name=value>', 'any setting; repeatable', setting);

/** The settings in these flags, as the CDK's context. */
export const contextOf = ({
  region: regions = [],
  name,
  stage,
  context = {},
}: ReturnType<ReturnType<typeof settingsCommand>['opts']>): Readonly<Record<string, string>> => ({
  ...context,
  ...(regions.length > 0 && { regions: regions.join(',') }),
  ...(name !== undefined && { name }),
  ...(stage !== undefined && { stage }),
});

/** @throws Ending */
export function parseCdk([given, ...args]: readonly string[]): CdkCommand {
  const name = z.enum(names).parse(given);
  const flag = <O extends Pick<Option, 'hideHelp'>>(which: keyof typeof flagsOf, option: O): O => {
    option.hideHelp(!flagsOf[which].includes(name));
    return option;
  };
  const read = parse(
    settingsCommand(name, abouts[name])
      .argument('[flags...]', 'after --: more flags for the CDK’s command')
      .addOption(
        flag('stack', new Option('--stack <pattern>', 'only these stacks; repeatable')).argParser(
          oneMore(String),
        ),
      )
      .addOption(flag('yes', new Option('--yes', 'do not ask before widening rights or deleting stacks')))
      .addOption(flag('fail', new Option('--fail', 'exit with 1 if there are differences')))
      .addOption(flag('json', new Option('--json', 'print the stacks’ outputs as JSON')))
      .addHelpText('after', `\nExamples:\n${examples[name]}\n${notes}`),
    args,
  );
  const { stack = [], yes = false, fail = false, json: isJson = false, ...settings } = read.opts();
  for (const [which, commands] of Object.entries(flagsOf))
    if (which in read.opts() && !commands.includes(name))
      throw new Ending(`The flag --${which} is for ${commands.join(' and ')}; --help lists the flags.`, 2);
  const [further] = read.processedArgs;
  if (further[0]?.startsWith('-') === false)
    throw new Ending(`There is no argument '${further[0]}': stacks are named with --stack.`, 2);
  const all = {
    bootstrap: [],
    deploy: [
      ...(stack.length > 0 ? ['--exclusively', ...stack] : ['--all']),
      ...(yes ? ['--require-approval', 'never'] : []),
    ],
    diff: [...stack, ...(stack.length > 0 ? ['--exclusively'] : []), ...(fail ? ['--fail'] : [])],
    drift: [...stack, ...(fail ? ['--fail'] : [])],
    destroy: [...(stack.length > 0 ? ['--exclusively', ...stack] : ['--all']), ...(yes ? ['--force'] : [])],
  } satisfies Record<Name, readonly string[]>;
  return {
    name,
    args: [
      name,
      ...all[name],
      ...each(
        '--context',
        Object.entries(contextOf(settings)).map(([key, value]) => `${key}=${value}`),
      ),
      ...further,
    ],
    isJson,
  };
}

const outputs = z.record(z.string(), z.record(z.string(), z.string()));

/** Summarizes the stacks' outputs, with the next commands. */
function* summaryOf(put: z.output<typeof outputs>): Generator<string> {
  yield '';
  for (const [stack, { Url, PublishUrl, ManagementUrl }] of Object.entries(put)) {
    if (Url !== undefined) yield `API ${/-(.+)-Service$/.exec(stack)?.[1] ?? ''}: ${Url}`;
    if (PublishUrl !== undefined) yield `Publish URL: ${PublishUrl}`;
    if (ManagementUrl !== undefined) yield `Management API: ${ManagementUrl}`;
  }
  yield 'Next: svc-queue accounts create <e-mail address> type=paid; svc-queue verify';
}

function readOutputs(folder: string): z.output<typeof outputs> {
  const file = join(folder, 'outputs.json');
  return existsSync(file) ? outputs.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
}

/** @param args begins with the command's name */
export function run(args: readonly string[]): Promise<void> {
  const asked = parseCdk(args);
  return runCommand(async () => {
    if (!hasCdk()) return runBesideCdk();
    const { name, isJson } = asked;
    const outputsFile = (folder: string): readonly string[] =>
      name === 'deploy' ? ['--outputs-file', join(folder, 'outputs.json')] : [];
    return runCdk(
      (folder) => [...asked.args, ...outputsFile(folder)],
      (status, folder) => {
        if (status !== 0 || name !== 'deploy') return status;
        const put = readOutputs(folder);
        if (isJson) console.log(JSON.stringify(put, undefined, 2));
        else for (const line of summaryOf(put)) console.log(line);
        return 0;
      },
      isJson ? 'stderr' : 'inherit',
    );
  });
}
