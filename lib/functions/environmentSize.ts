import { CfnResource, type Stack } from 'aws-cdk-lib';
import * as z from 'zod';
import { scheduleGroupOf } from '../names.ts';
import { valuesOf } from '../regional.ts';
import { type Settings, SettingsError } from '../settings.ts';
import type { SvcFunction } from './function.ts';

/** Bytes of all variables of a function ("Lambda quotas": 4 KB). Lambda's refusal quotes the JSON that it measures. */
export const mostBytes = 4_096;

/** The metadata of a template that `verify --before` reads. */
export const largestEnvironment = 'LargestEnvironment';

const account = '111122223333';
const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** CloudFormation makes a name of the stack, the logical id and 13 characters, and shortens it to what the service takes. */
function madeName({ logicalId, stack }: CfnResource, most: number): string {
  return `${stack.stackName}-${String(stack.resolve(logicalId))}-${'x'.repeat(13)}`.slice(0, most);
}

/** References to resources, with the longest values that AWS generates. */
const forms: Readonly<Record<string, (resource: CfnResource, settings: Settings) => string>> = {
  'AWS::ApiGateway::RestApi Ref': () => 'x'.repeat(10),
  'AWS::DynamoDB::GlobalTable Ref': (table) => madeName(table, 255),
  'AWS::IAM::Role Arn': (role) => `arn:aws:iam::${account}:role/${madeName(role, 64)}`,
  'AWS::Lambda::Url FunctionUrl': ({ stack }) =>
    `https://${'x'.repeat(32)}.lambda-url.${stack.region}.on.aws/`,
  'AWS::S3::Bucket Ref': (bucket) => madeName(bucket, 63),
  'AWS::SQS::Queue Arn': (queue) => `arn:aws:sqs:${queue.stack.region}:${account}:${madeName(queue, 80)}`,
  'AWS::SQS::Queue Ref': (queue) =>
    `https://sqs.${queue.stack.region}.amazonaws.com/${account}/${madeName(queue, 80)}`,
  'AWS::Scheduler::ScheduleGroup Ref': (_, settings) => scheduleGroupOf(settings),
};

const environment = z.object({ variables: z.record(z.string(), z.unknown()) });
const intrinsic = z.union([
  z.string(),
  z.object({ Ref: z.string() }),
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }),
  z.object({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) }),
  z.object({
    'Fn::Select': z.tuple([z.coerce.number(), z.object({ 'Fn::Split': z.tuple([z.string(), z.unknown()]) })]),
  }),
]);

const textsOf = (settings: Settings): Readonly<Partial<Record<keyof Settings, readonly string[]>>> => ({
  name: [settings.name],
  regions: settings.regions,
  scheduleGroup: [settings.scheduleGroup ?? ''],
  headerPrefixes: settings.headerPrefixes,
  allowedDestinations: settings.allowedDestinations,
  destinations: settings.destinations,
  lambdaDestinations: settings.lambdaDestinations,
  outboundProxy: [settings.outboundProxy ?? ''],
  outboundProxyExcept: settings.outboundProxyExcept,
  ownHosts: settings.ownHosts,
  domains: valuesOf(settings.domains),
});

/**
 * @param stacks with the resources that variables refer to; the functions' stack is first. If two have a
 * logical id, the last one counts
 * @throws SettingsError if Lambda would refuse a function's variables, which otherwise only a deployment
 * shows
 */
export function refuseLargeEnvironments(
  stacks: readonly Stack[],
  functions: readonly SvcFunction[],
  settings: Settings,
): void {
  const made = new Map(
    stacks
      .flatMap((stack) => stack.node.findAll())
      .filter((one) => CfnResource.isCfnResource(one))
      .map((one) => [String(one.stack.resolve(one.logicalId)), one]),
  );
  const textOf = (value: unknown): string => {
    const read = intrinsic.parse(value);
    if (typeof read === 'string') return read;
    if ('Fn::Join' in read) return read['Fn::Join'][1].map(textOf).join(read['Fn::Join'][0]);
    if ('Fn::Select' in read) {
      const [at, { 'Fn::Split': split }] = read['Fn::Select'];
      return textOf(split[1]).split(split[0])[at] ?? '';
    }
    const [id, attribute] = 'Ref' in read ? [read.Ref, 'Ref'] : read['Fn::GetAtt'];
    const resource = made.get(id);
    if (resource === undefined) return pseudoParameters[id] ?? '';
    const form = forms[`${resource.cfnResourceType} ${attribute}`];
    if (form === undefined) throw new Error(`The length of ${attribute} of ${id} is unknown.`);
    return form(resource, settings);
  };
  const variablesOf = ({ definition, stack }: SvcFunction): Buffer => {
    const { variables } = environment.parse(stack.resolve(definition.environment));
    const texts = Object.entries(variables).map(([name, value]) => [name, textOf(value)]);
    return Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  };
  const [largest] = functions
    .map((fn) => ({ name: fn.node.id, variables: variablesOf(fn) }))
    .sort((one, other) => other.variables.length - one.variables.length);
  if (largest === undefined) return;
  stacks[0]?.addMetadata(largestEnvironment, { name: largest.name, bytes: largest.variables.length });
  if (largest.variables.length <= mostBytes) return;
  const json = largest.variables.toString();
  const taken = Object.entries(textsOf(settings))
    .map(([setting, texts]) => {
      const given = texts.filter((text) => text !== '');
      const bytes = given.map((text) => (json.split(text).length - 1) * Buffer.byteLength(text));
      return { setting, bytes: bytes.reduce((sum, one) => sum + one, 0) };
    })
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, 4)
    .map(({ setting, bytes }) => `${setting} (${bytes})`);
  throw new SettingsError(
    `The variables of the function ${largest.name} have ${largest.variables.length} bytes, and Lambda takes ${mostBytes}. ` +
      `Shorten what takes most: ${taken.join(', ')}.`,
  );
}
