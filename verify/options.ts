/** The options of `svc-queue verify`. */
import { command, Ending, oneMore, parse, region, setting, wholeNumber } from '../bin/commandLine.ts';

export interface VerifyOptions {
  readonly isBefore: boolean;
  /** The regions to check; all of the deployment when empty. */
  readonly regions: readonly string[];
  /** The names of the checks to make; all when empty. */
  readonly only: readonly string[];
  readonly isJson: boolean;
  /** Settings beside those of `cdk.json`. */
  readonly context: Readonly<Record<string, string>>;
  /** Seconds to wait for what comes at once when all is well. */
  readonly waitSeconds: number;
}

const examples = `
Examples:
  svc-queue verify --before                    what would keep a deployment from succeeding; changes nothing
  svc-queue verify                                the deployment at work, in about five minutes
  svc-queue verify --region us-east-1 --only latency,queue
  svc-queue verify -c name=SvcDev --json       for CI, with the settings of that deployment`;

/**
 * @param known the names of the checks before and after a deployment
 * @throws Ending
 */
export function parseVerify(
  args: readonly string[],
  known: { readonly before: readonly string[]; readonly after: readonly string[] },
): VerifyOptions {
  const given = parse(
    command(
      'verify',
      'Proves a deployment: by use of what is deployed, or before, by reading the AWS account.',
    )
      .option('--before', 'check the AWS account before a deployment; nothing is changed')
      .option('--region <region>', 'only this region; repeatable', oneMore(region))
      .option(
        '--only <check>',
        'only these checks, with commas; repeatable',
        (text, all?: readonly string[]) => [...(all ?? []), ...text.split(',')],
      )
      .option('-c, --context <name=value>', 'a setting, as cdk deploy takes it; repeatable', setting)
      .option(
        '--wait <seconds>',
        'how long to wait for what comes at once when all is well',
        wholeNumber(1, 3_600),
        60,
      )
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        `${examples}\n\nChecks before: ${known.before.join(', ')}.\nChecks after: ${known.after.join(', ')}.`,
      ),
    args,
  ).opts();
  const {
    before: isBefore = false,
    region: regions = [],
    only = [],
    json: isJson = false,
    context = {},
  } = given;
  const names = isBefore ? known.before : known.after;
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Ending(`There is no check ${unknown.join(', ')}. The checks are ${names.join(', ')}.`, 2);
  return { isBefore, regions, only, isJson, context, waitSeconds: given.wait };
}
