/**
 * Reads and checks the settings from the CDK context: `cdk.json`, or `-c name=value` on the command line, where every value is
 * text. `app/props.ts` and `docs/settings.md` describe each; a test compares the latter.
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
import { noFunctionUrls, placesIn, regionOfArn, valuesIn } from './regional.ts';
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

/** The others have fixed names, and are restored into the existing table. */
const restorableTables = Object.keys(tables).filter((name) => name !== 'accounts' && name !== 'usage');

function isNetworkOrName(item: string): boolean {
  const [address = '', bits] = item.split('/');
  return bits === undefined || (isIP(address) !== 0 && Number(bits) <= (isIP(address) === 6 ? 128 : 32));
}

const shape = z.strictObject({
  /** See `presets.ts`. */
  stage: z.enum(stages).optional(),
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,62}$/, 'must be letters, digits and dashes, starting with a letter')
    .default('Svc'),
  /** The first region has the management API, the master secret and the table of accounts; the others have replicas. */
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
  retain: flag.default(true),
  pointInTimeRecovery: flag.optional(),
  restoredTables: regional(
    `(?:${restorableTables.join('|')}):[a-zA-Z0-9_.-]{3,255}`,
    'messages:Svc-messages-restored',
  ),
  logRetentionDays: number(z.enum(RetentionDays)).default(RetentionDays.ONE_MONTH),
  logLevel: z.enum(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']).default('WARN'),
  headerPrefixes: list.default([...defaultHeaderPrefixes]),
  allowedDestinations: list.default([]),
  /** The delivery functions may send only to ARNs that match these or `lambdaDestinations`. */
  destinations: listOf(destinationPattern, allowedDestinationPattern),
  lambdaDestinations: listOf(functionPattern, allowedFunctionPattern),
  extraCaCertificates: certificateFile.optional(),
  outboundProxy: z
    .url({
      protocol: /^https?$/,
      error: 'must be the URL of a proxy, such as http://user:password@proxy.internal:3128',
    })
    .optional(),
  outboundProxyExcept: listOf(
    /^(\*|\.?[a-z0-9.-]+(:\d+)?|[0-9a-f.:]+(\/\d{1,3})?)$/i,
    'a host name with all names below it, an address or a network, such as internal.example or 10.0.0.0/8',
  ).refine((items) => items.every(isNetworkOrName), 'has a network that cannot be read'),
  /** A port is for emulators: API Gateway uses only the default ports. */
  ownHosts: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i, 'must be a host name, such as queue.example.com'),
      ),
    )
    .default([]),
  scheduleGroup: z
    .string()
    .regex(/^[0-9a-zA-Z-_.]{1,64}$/, 'must be a name as Scheduler takes it')
    .optional(),
  /** AWS gives new accounts these quotas. */
  throttleRate: whole(1, 1_000_000).default(10_000),
  throttleBurst: whole(1, 1_000_000).default(5_000),
  deliveryConcurrency: whole(leastConcurrency, mostConcurrency).default(deliveryConcurrency),
  ...levers,
  /**
   * Lambda refuses to reserve executions if fewer than 100 are left for other functions. By default nothing is reserved, so the
   * service fits into the smallest AWS account.
   */
  publishConcurrency: whole(1, 100_000).optional(),
  /** On by default, unless there is a firewall, which requests to this URL would bypass. */
  publishUrl: flag.optional(),
  /** See `alarmTable.ts`. */
  monitoring: z
    .preprocess(
      asFlag,
      z.union([z.boolean(), z.literal('essential')], { error: 'must be true, false or essential' }),
    )
    .default(true),
  /**
   * Emulators do not have saved queries, alarms on several metrics, and the connection of the firewall to the
   * APIs.
   */
  forEmulator: flag.default(false),
  canary: flag.default(false),
  /** AWS asks each address for confirmation first. */
  alarmEmails: list.pipe(z.array(z.email('must be an e-mail address'))).default([]),
  accountConcurrency: whole(10, 1_000_000).default(1_000),
  /** Each trace is billed. */
  tracing: flag.default(false),
  firewall: flag.default(false),
  /** The range is WAF's. */
  firewallRate: whole(10, 2_000_000_000).default(100_000),
  /** A base path may follow the name, such as `/queue`. */
  domains: listOf(
    new RegExp(`^(${region}|management)=([a-z0-9-]+\\.)+[a-z0-9-]+(/(?!(v2|console)$)[A-Za-z0-9._-]+)?$`),
    'a region or management, and a name, such as eu-central-1=queue.example.com or eu-central-1=example.com/queue',
  ),
  /** A domain without a certificate exists already, and gets a mapping for its base path. */
  certificates: listOf(
    new RegExp(`^arn:[a-z-]+:acm:${region}:\\d{12}:certificate/[\\w-]+$`),
    'the ARN of a certificate in ACM',
  ),
  hostedZone: z
    .string()
    .regex(/^Z[A-Z0-9]{1,31}$/, 'must be the id of a hosted zone, such as Z0123456789ABC')
    .optional(),
  ...network,
  pricePerMessage: number(z.number().min(0)).default(defaultPricePerMessage),
  /** Values above 1 are for emulators. */
  clientPatience: number(z.number().min(1).max(100)).default(1),
  /** An AWS account and region has only one such role. */
  gatewayLogRole: flag.default(true),
});

export const settingNames: readonly string[] = Object.keys(shape.shape);

/**
 * The most characters of `destinations` and `lambdaDestinations` together. A function's environment has 4 KB, mostly for other
 * variables.
 */
const longestPatterns = 1_000;

const hasNoUrls = ({ regions }: { readonly regions: readonly string[] }): boolean =>
  regions.some((one) => noFunctionUrls.includes(one));

const refined = shape.superRefine((settings, context) => {
  const refuse = (name: keyof typeof settings, message: string): void => {
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
  if (settings.publishUrl === true && hasNoUrls(settings))
    refuse('publishUrl', `is true, but there are no function URLs in ${noFunctionUrls.join(', ')}`);
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

const together = refined.transform((settings) => ({
  ...settings,
  publishUrl: settings.publishUrl ?? !(settings.firewall || settings.forEmulator || hasNoUrls(settings)),
}));

export type Settings = z.output<typeof together>;

/** Context of the CDK itself has these characters in its names. Settings do not. */
const ofTheCdk = /[:@]/;

/** An error whose message describes each wrong setting. */
export class SettingsError extends Error {}

interface Source {
  readonly title: string;
  readonly one: string;
}

const context: Source = {
  title: 'The settings (CDK context, in cdk.json or as -c name=value) are not right:',
  one: 'setting',
};
const props: Source = { title: 'The props of SvcQueue are not right:', one: 'prop' };

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

/** @throws SettingsError that names every unknown or wrong setting */
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

export function readSettings(app: App): Settings {
  const all: unknown = app.node.getAllContext();
  return check(
    Object.fromEntries(
      Object.entries(z.record(z.string(), z.unknown()).parse(all)).filter(([name]) => !ofTheCdk.test(name)),
    ),
    context,
  );
}

/** An undefined prop counts as absent. @throws SettingsError */
export const checkProps = (given: object): Settings =>
  check(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), props);
