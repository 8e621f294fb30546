import {
  command,
  Ending,
  oneMore,
  parse,
  region,
  setting,
  textLike,
  wholeNumber,
} from '../cli/commandLine.ts';

export interface VerifyOptions {
  readonly isBefore: boolean;
  readonly regions: readonly string[];
  /** The checks to run; all except slow ones if empty. */
  readonly only: readonly string[];
  readonly isSlow: boolean;
  /** The day whose bill is compared, such as `2026-11-25`; undefined for checks. */
  readonly bill: string | undefined;
  /** The commands of an upgrade and a rollback; undefined for checks. */
  readonly release: { readonly commands: readonly string[] } | undefined;
  readonly isJson: boolean;
  /** Settings besides `cdk.json`. */
  readonly context: Readonly<Record<string, string>>;
  /** How long to wait for something that normally happens at once, in seconds. */
  readonly waitSeconds: number;
}

export const yesterday = (now: Date): string =>
  new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10);

const examples = `
Examples:
  svc-queue verify --before                       what would keep a deployment from succeeding; leaves nothing behind
  svc-queue verify                                the deployment at work, in about five minutes
  svc-queue verify --slow                         also a burst, long attempts and far messages: half an hour
  svc-queue verify --region us-east-1 --only latency,queue
  svc-queue verify --bill                         what AWS billed for yesterday, beside the forecast
  svc-queue verify --release --upgrade "npx ./svc-queue-0.2.0.tgz deploy --yes" --back "npx ./svc-queue-0.1.0.tgz deploy --yes --stack 'Svc-*-Service'"
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
      .option('--before', 'check the AWS account before a deployment; nothing is left behind')
      .option('--slow', 'make the slow checks, too: they load the deployment, or wait for minutes')
      .option(
        '--bill [day]',
        'compare what AWS billed for a day of UTC, yesterday by default, with the forecast; costs $0.01',
        textLike(/^\d{4}-\d\d-\d\d$/, 'a day such as 2026-11-25'),
      )
      .option('--release', 'run the commands of --upgrade and --back while messages come and go')
      .option('--upgrade <command>', 'a command that deploys another release, or other settings', String)
      .option('--back <command>', 'a command that goes back', String)
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
    slow: isSlow = false,
    release: isRelease = false,
    upgrade,
    back,
  } = given;
  const modes = [
    isBefore && '--before',
    given.bill !== undefined && '--bill',
    isRelease && '--release',
  ].filter((mode) => mode !== false);
  if (modes.length > 1) throw new Ending(`${modes.join(' and ')} exclude each other.`, 2);
  if (modes.length > 0 && isSlow) throw new Ending(`--slow is for the checks after a deployment.`, 2);
  if (isRelease !== (upgrade !== undefined))
    throw new Ending('--release needs --upgrade with a command, and --upgrade needs --release.', 2);
  if (back !== undefined && !isRelease) throw new Ending('--back needs --release.', 2);
  const names = isBefore ? known.before : known.after;
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Ending(`There is no check ${unknown.join(', ')}. The checks are ${names.join(', ')}.`, 2);
  return {
    isBefore,
    regions,
    only,
    isSlow,
    bill: given.bill === true ? yesterday(new Date()) : given.bill,
    release:
      upgrade === undefined ? undefined : { commands: [upgrade, ...(back === undefined ? [] : [back])] },
    isJson,
    context,
    waitSeconds: given.wait,
  };
}
