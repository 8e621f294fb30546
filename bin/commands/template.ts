/** `svc-queue template`: a deployment's CloudFormation templates and code, for other tools than the CDK. */
import { join } from 'node:path';
import { parse, textLike } from '../../cli/commandLine.ts';
import { hasCdk, runBesideCdk } from '../cdk.ts';
import { runCommand } from '../runCommand.ts';
import type { AskedTemplates, writeTemplates } from '../templates.ts';
import { contextOf, notes, settingsCommand } from './cdk.ts';

const about =
  'Writes CloudFormation templates and the code of the functions into a folder, for deployments without the CDK and its ' +
  'bootstrap, and prints the commands of the AWS CLI that deploy them.';

const examples = `
Examples:
  svc-queue template --region eu-central-1 --bucket acme-svc --out svc > deploy.sh
  svc-queue template --region eu-central-1 --region us-east-1 --bucket 'acme-{region}/svc' --out svc`;

/** @throws Ending */
export function parseTemplate(args: readonly string[]): AskedTemplates {
  const read = parse(
    settingsCommand('template', about)
      .requiredOption(
        '--bucket <bucket>',
        'for the code; each region needs one in it: {region} is replaced. May have a prefix: bucket/prefix',
        textLike(
          /^[a-z0-9{][a-z0-9.{}-]+(\/[\w.-]+)*$/,
          'a bucket such as acme-svc-{region}, or bucket/prefix',
        ),
      )
      .requiredOption(
        '--out <folder>',
        'the folder to write; its other files stay',
        textLike(/^[\w./-]+$/, 'the path of a folder, without spaces'),
      )
      .option('--accounts', 'also a stack with the function that makes accounts, schedules and URL groups')
      .addHelpText('after', `${examples}\n${notes}`),
    args,
  );
  const { bucket: place, out, accounts = false, ...settings } = read.opts();
  const [bucket = '', ...prefix] = place.split('/');
  return {
    context: contextOf(settings),
    bucket,
    prefix: prefix.map((part) => `${part}/`).join(''),
    out,
    accounts,
  };
}

/** The commands of the AWS CLI that deploy a folder, in order. */
function* commandsFor(
  { buckets, prefix, stacks }: ReturnType<typeof writeTemplates>,
  out: string,
): Generator<string> {
  for (const [region, bucket] of Object.entries(buckets)) {
    yield `# aws s3 mb s3://${bucket} --region ${region}    # if it does not exist`;
    yield `aws s3 sync ${join(out, 'assets')} s3://${bucket}/${prefix} --region ${region}`;
  }
  for (const { name, region, tags, isProtected } of stacks) {
    const stack = `--region ${region} --stack-name ${name}`;
    const file = join(out, `${name}.template.json`);
    const place = [
      `--s3-bucket ${buckets[region] ?? ''}`,
      ...(prefix === '' ? [] : [`--s3-prefix ${prefix.slice(0, -1)}`]),
    ];
    const named = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
    yield [
      `aws cloudformation deploy ${stack} --template-file ${file}`,
      ...place,
      `--capabilities CAPABILITY_NAMED_IAM --no-fail-on-empty-changeset --tags ${named.join(' ')}`,
    ].join(' ');
    if (isProtected)
      yield `aws cloudformation update-termination-protection ${stack} --enable-termination-protection`;
  }
}

export function run(args: readonly string[]): Promise<void> {
  const asked = parseTemplate(args);
  return runCommand(async () => {
    if (!hasCdk()) return runBesideCdk();
    const templates = await import('../templates.ts');
    for (const line of commandsFor(templates.writeTemplates(asked), asked.out)) console.log(line);
    return 0;
  });
}
