/**
 * The settings of a deployment, checked once and typed. They come from the CDK context: `cdk.json`, or `-c name=value` on the
 * command line, where every value is text. `docs/settings.md` lists them for operators; a test compares that list with this one.
 */
import { isIP } from 'node:net';
import type { App } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { isStage, presets, stages } from './presets.ts';
import { certificateFile } from './functions/certificateFile.ts';
import { faultInLongDelivery, levers } from './functions/levers.ts';
import { faultsInNetwork, network } from './functions/network/settings.ts';
import { placesIn, regionOfArn, valuesIn } from './regional.ts';
import { refuseHalf } from './state/capacity.ts';
import {
  allowedDestinationPattern,
  allowedFunctionPattern,
  asFlag,
  destinationPattern,
  flag,
  functionPattern,
  list,
  listOf,
  number,
  ownKindOf,
  region,
  regional,
  whole,
} from './settingTypes.ts';
import {
  defaultHeaderPrefixes,
  defaultPricePerMessage,
  deliveryConcurrency,
  leastConcurrency,
  mostConcurrency,
  tables,
} from '../lambdas/aws/resources.ts';

/** The tables of one region. The others are known by fixed names, and restored into these. */
const restorableTables = Object.keys(tables).filter((name) => name !== 'accounts' && name !== 'usage');

/** Whether an item that has a slash is a network. */
function isNetworkOrName(item: string): boolean {
  const [address = '', bits] = item.split('/');
  return bits === undefined || (isIP(address) !== 0 && Number(bits) <= (isIP(address) === 6 ? 128 : 32));
}

const shape = z.strictObject({
  /** Chooses the values of several other settings: see `presets.ts`. */
  stage: z.enum(stages).optional(),
  /** The beginning of the name of every stack and of every resource with a fixed name: see `names.ts`. */
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,62}$/, 'must be letters, digits and dashes, starting with a letter')
    .default('Svc'),
  /** The regions. The first has the management API, the master secret and the table of accounts; the others get replicas. */
  regions: list
    .pipe(
      z
        .array(
          z
            .string()
            .regex(new RegExp(`^${region}$`), 'must be the name of an AWS region')
            .refine((name) => (RegionInfo.get(name).partition ?? 'aws') === 'aws', {
              error:
                'must be a public region of AWS, such as eu-central-1; those of China, GovCloud and other separate clouds are not supported',
            }),
        )
        .min(1)
        .refine((regions) => new Set(regions).size === regions.length, 'must not name a region twice'),
    )
    .default(['eu-central-1', 'us-east-1']),
  /** Whether data outlives its stack and is protected from deletion. */
  retain: flag.default(true),
  /** Whether tables can be restored to any second of the last 35 days; like `retain` when absent. */
  pointInTimeRecovery: flag.optional(),
  /** Tables that replace those of their stack after a restore: `region=table:name`. See docs/recovery.md. */
  restoredTables: regional(
    `(?:${restorableTables.join('|')}):[a-zA-Z0-9_.-]{3,255}`,
    'messages:Svc-messages-restored',
  ),
  /** The days that logs are kept. CloudWatch Logs takes certain numbers of days only. */
  logRetentionDays: number(z.enum(RetentionDays)).default(RetentionDays.ONE_MONTH),
  logLevel: z.enum(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']).default('INFO'),
  headerPrefixes: list.default([...defaultHeaderPrefixes]),
  allowedDestinations: list.default([]),
  /**
   * Patterns of the ARNs of queues, topics, buses and functions that messages may go to. The delivery functions may send to exactly
   * these, and to the functions of `lambdaDestinations`.
   */
  destinations: listOf(destinationPattern, allowedDestinationPattern),
  /** Patterns of the ARNs of Lambda functions that messages may go to. */
  lambdaDestinations: listOf(functionPattern, allowedFunctionPattern),
  /** A file with certificates of authorities that deliveries trust besides the public ones: see `functions/extraCa.ts`. */
  extraCaCertificates: certificateFile.optional(),
  /** The proxy through which deliveries go. */
  outboundProxy: z
    .url({
      protocol: /^https?$/,
      error: 'must be the URL of a proxy, such as http://user:password@proxy.internal:3128',
    })
    .optional(),
  /** Hosts and networks that are reached without it. */
  outboundProxyExcept: listOf(
    /^(\*|\.?[a-z0-9.-]+(:\d+)?|[0-9a-f.:]+(\/\d{1,3})?)$/i,
    'a host name with all names below it, an address or a network, such as internal.example or 10.0.0.0/8',
  ).refine((items) => items.every(isNetworkOrName), 'has a network that cannot be read'),
  /** Further hosts of the service's own APIs. A port is for emulators: API Gateway listens at the usual ports only. */
  ownHosts: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i, 'must be a host name, such as queue.example.com'),
      ),
    )
    .default([]),
  /**
   * The group of the schedules in EventBridge Scheduler; by default one of the deployment's name, which is made. `default` is
   * the group that every AWS account has.
   */
  scheduleGroup: z
    .string()
    .regex(/^[0-9a-zA-Z-_.]{1,64}$/, 'must be a name as Scheduler takes it')
    .optional(),
  /** Requests a second that the API takes from all accounts together, and at one instant. AWS gives new accounts these quotas. */
  throttleRate: whole(1, 1_000_000).default(10_000),
  throttleBurst: whole(1, 1_000_000).default(5_000),
  /** The most executions at once of each of the three delivery functions. */
  deliveryConcurrency: whole(leastConcurrency, mostConcurrency).default(deliveryConcurrency),
  ...levers,
  /**
   * Executions reserved for publishing, and its limit. Lambda refuses to reserve any if fewer than
   * 100 would be left for the other functions of the AWS account. So by default nothing is reserved, and the service can be
   * deployed to the smallest account.
   */
  publishConcurrency: whole(1, 100_000).optional(),
  /**
   * Whether publish also has its own URL, which costs nothing per request. Anyone can reach it, as they can the API, but
   * some organisations forbid such URLs, so it is off by default.
   */
  publishUrl: flag.default(false),
  /**
   * Whether each region has a dashboard, alarms with a topic, and saved queries, or the essential alarms only: see
   * `alarmTable.ts`. They cost some dollars a month, used or not.
   */
  monitoring: z
    .preprocess(
      asFlag,
      z.union([z.boolean(), z.literal('essential')], { error: 'must be true, false or essential' }),
    )
    .default(true),
  /**
   * Whether to leave out what emulators lack: saved queries, alarms on expressions over several metrics, and the connection of the
   * firewall to the APIs.
   */
  forEmulator: flag.default(false),
  /** Whether a deployment moves a tenth of the invocations to a new release first: see `canary.ts`. */
  canary: flag.default(false),
  /** The addresses that get a mail from each alarm. AWS asks each of them for its consent first. */
  alarmEmails: list.pipe(z.array(z.email('must be an e-mail address'))).default([]),
  /** The AWS account's limit of executions at once in a region, which an alarm compares with. */
  accountConcurrency: whole(10, 1_000_000).default(1_000),
  /** Whether X-Ray traces requests and their jobs. It is billed by the trace. */
  tracing: flag.default(false),
  /** Whether a web ACL of AWS WAF protects the APIs: see `firewall.ts`. */
  firewall: flag.default(false),
  /** The most requests from one address in five minutes, with a firewall. The bounds are those of WAF. */
  firewallRate: whole(10, 2_000_000_000).default(100_000),
  /**
   * Custom domains of the APIs: `region=name` for a region's, `management=name` for the management API's; behind the name may be a base
   * path, such as `/queue`.
   */
  domains: listOf(
    new RegExp(`^(${region}|management)=([a-z0-9-]+\\.)+[a-z0-9-]+(/(?!(v2|console)$)[A-Za-z0-9._-]+)?$`),
    'a region or management, and a name, such as eu-central-1=queue.example.com or eu-central-1=example.com/queue',
  ),
  /**
   * Certificates of these domains in ACM, one in each region that has a domain. A region without one has an existing domain, which gets
   * a mapping for the base path.
   */
  certificates: listOf(
    new RegExp(`^arn:[a-z-]+:acm:${region}:\\d{12}:certificate/[\\w-]+$`),
    'the ARN of a certificate in ACM',
  ),
  /** The zone of Route 53 that gets the domains' records; the operator makes them when absent. */
  hostedZone: z
    .string()
    .regex(/^Z[A-Z0-9]{1,31}$/, 'must be the id of a hosted zone, such as Z0123456789ABC')
    .optional(),
  ...network,
  /** Dollars that a message takes from its account's budget. */
  pricePerMessage: number(z.number().min(0)).default(defaultPricePerMessage),
  /** The factor by which a call to AWS may take longer than usual before it is tried again. More than 1 is for emulators. */
  clientPatience: number(z.number().min(1).max(100)).default(1),
  /** Whether to make the role with which API Gateway writes access logs. There is one for an AWS account and region. */
  gatewayLogRole: flag.default(true),
});

export type Settings = z.output<typeof shape>;
export const settingNames: readonly string[] = Object.keys(shape.shape);

/** Characters of all patterns of `destinations` and `lambdaDestinations`: the environment of a function has 4 KB, and its other variables take most. */
const longestPatterns = 1_000;

/** Refuses settings that contradict each other. */
const together = shape.superRefine((settings, context) => {
  const refuse = (name: keyof Settings, message: string): void => {
    context.addIssue({ code: 'custom', path: [name], message });
  };
  const perRegion = [
    'domains',
    'vpcs',
    'subnets',
    'securityGroups',
    'routeTables',
    'fixedAddresses',
    'zones',
    'restoredTables',
  ] as const;
  for (const name of perRegion) {
    for (const place of placesIn(settings[name])) {
      if (place !== 'management' && !settings.regions.includes(place))
        refuse(name, `names ${place}, which is not one of the regions: ${settings.regions.join(', ')}`);
    }
  }
  for (const setting of ['destinations', 'lambdaDestinations'] as const) {
    for (const pattern of settings[setting]) {
      const kind = ownKindOf(pattern, settings.name);
      if (kind !== undefined)
        refuse(
          setting,
          `${pattern} could be a ${kind} of the service itself, whose names begin with ${settings.name}-; let the name begin otherwise`,
        );
    }
  }
  if ([...settings.destinations, ...settings.lambdaDestinations].join().length > longestPatterns)
    refuse(
      settings.destinations.length > 0 ? 'destinations' : 'lambdaDestinations',
      `has more than ${longestPatterns} characters, those of both lists together, which the environment of a function has no room for`,
    );
  refuseHalf(settings, refuse);
  const longFault = faultInLongDelivery(settings);
  if (longFault !== undefined) refuse('longEnvironments', longFault);
  if (settings.alarmEmails.length > 0 && settings.monitoring === false)
    refuse('alarmEmails', 'has addresses, but monitoring is off, so there is no alarm to tell them of');
  if (settings.canary && settings.monitoring === false)
    refuse(
      'canary',
      'needs alarms, which take a bad release back, but monitoring is off: allowed are true and essential',
    );
  if (settings.canary && settings.forEmulator)
    refuse('canary', 'needs CodeDeploy, which emulators do not have: leave out canary or forEmulator');
  for (const place of new Set(placesIn(settings.domains))) {
    if (valuesIn(settings.domains, place).length > 1) refuse('domains', `has two names for ${place}`);
    const where = place === 'management' ? settings.regions[0] : place;
    const isExisting =
      valuesIn(settings.domains, place)[0]?.includes('/') === true &&
      !settings.certificates.some((arn) => regionOfArn(arn) === where);
    if (isExisting) continue;
    if (settings.certificates.filter((arn) => regionOfArn(arn) === where).length !== 1)
      refuse(
        'certificates',
        `must have one certificate of the region ${String(where)}, for the domain of ${place}`,
      );
  }
  for (const [name, message] of faultsInNetwork(settings)) refuse(name, message);
});

/** The characters in context names of the CDK itself. Names of settings have none. */
const ofTheCdk = /[:@]/;

/** An error for wrong settings. Its message names each of them, for the operator. */
export class SettingsError extends Error {}

/** Where settings come from, as the error for wrong ones says it. */
interface Source {
  readonly title: string;
  /** The word for one of them. */
  readonly one: string;
}

const context: Source = {
  title: 'The settings (CDK context, in cdk.json or as -c name=value) are not right:',
  one: 'setting',
};
const props: Source = { title: 'The props of SvcQueue are not right:', one: 'prop' };

/** Describes each wrong setting: its value, and what is allowed. */
function faultsIn(
  given: Readonly<Record<string, unknown>>,
  { issues }: z.core.$ZodError,
  { title, one }: Source,
): string {
  const lines = issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: there is no such ${one}`);
    const value = given[String(issue.path[0])];
    return [
      `${z.core.toDotPath(issue.path)}: ${issue.message}${value === undefined ? '' : `; given is ${JSON.stringify(value)}`}`,
    ];
  });
  const isNameWrong = issues.some(({ code }) => code === 'unrecognized_keys');
  return [
    title,
    ...new Set(lines.map((line) => `- ${line}`)),
    isNameWrong
      ? `${one.charAt(0).toUpperCase()}${one.slice(1)}s are: ${settingNames.join(', ')}.`
      : 'docs/settings.md, "Settings", has what each may be.',
  ].join('\n');
}

/** @throws SettingsError that names every setting that is unknown or has a wrong value */
function check(given: Readonly<Record<string, unknown>>, source: Source): Settings {
  const stage = given['stage'];
  const all = { ...(isStage(stage) ? presets[stage] : {}), ...given };
  const read = together.safeParse(all);
  if (!read.success) throw new SettingsError(faultsIn(all, read.error, source));
  if (isStage(stage) && !presets[stage].retain && 'name' in given && !('retain' in given))
    throw new SettingsError(
      `The stage ${stage} keeps no data, and ${read.data.name} may be the name of a deployment that does. Leave name out, which ` +
        `makes it ${presets[stage].name}; or set retain as well: true to keep the data of ${read.data.name}, false to give it up.`,
    );
  return read.data;
}

/** @throws SettingsError */
export function readSettings(app: App): Settings {
  const all: unknown = app.node.getAllContext();
  return check(
    Object.fromEntries(
      Object.entries(z.record(z.string(), z.unknown()).parse(all)).filter(([name]) => !ofTheCdk.test(name)),
    ),
    context,
  );
}

/**
 * Checks settings that a program gives. One that is undefined counts as absent.
 *
 * @throws SettingsError
 */
export const checkProps = (given: object): Settings =>
  check(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), props);
