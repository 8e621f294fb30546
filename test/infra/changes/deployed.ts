/** Finds what CloudFormation would refuse, and what would be lost, if one deployment replaces another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { MadeStack } from '../keptTemplates.ts';

/**
 * Resources that keep something. If a logical id changes, CloudFormation creates a new resource, and deletes or forgets the old
 * one with its contents: an API's URL that clients know, or a queue's messages.
 */
export const stateful = [
  'AWS::ApiGateway::RestApi',
  'AWS::DynamoDB::GlobalTable',
  // Another API would have another host, which no client knows.
  'AWS::Lambda::Url',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  // Subscribers of another topic would have to confirm again.
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
  'AWS::Scheduler::ScheduleGroup',
  'AWS::SecretsManager::Secret',
];

/** By type: the properties that cannot change without a new resource. `cfnLint.campaign.test.ts` renews the file. */
const createOnly = new Map(
  readFileSync(join(import.meta.dirname, 'createOnly.txt'), 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([type = '', ...properties]) => [type, properties]),
);

const keptShape = z.object({
  type: z.string(),
  /** The create-only properties, as JSON. */
  fixed: z.record(z.string(), z.string()),
  /** The properties that protect it. */
  guards: z.array(z.string()),
});

const stackShape = z.object({
  isProtected: z.boolean(),
  /** Values as JSON, by name. */
  exports: z.record(z.string(), z.string()),
  imports: z.array(z.string()),
  /** The resources that keep something, by logical id. */
  kept: z.record(z.string(), keptShape),
});
type DeployedStack = z.output<typeof stackShape>;

/** A deployment's stacks, by name. */
export const deployedShape = z.record(z.string(), stackShape);
export type Deployed = z.output<typeof deployedShape>;

const templateShape = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      DeletionPolicy: z.string().optional(),
      UpdateReplacePolicy: z.string().optional(),
      Properties: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() }))
    .default({}),
});
type Resource = z.output<typeof templateShape>['Resources'][string];

const replicas = z.array(
  z.object({
    DeletionProtectionEnabled: z.boolean().optional(),
    PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }).optional(),
  }),
);

function guardsOf({ DeletionPolicy, UpdateReplacePolicy, Properties }: Resource): string[] {
  const all = replicas.default([]).parse(Properties['Replicas']);
  const guards = {
    'kept when its stack goes': DeletionPolicy?.startsWith('Retain') ?? false,
    'kept when it is replaced': UpdateReplacePolicy === 'Retain',
    'protected from deletion': all.length > 0 && all.every((one) => one.DeletionProtectionEnabled),
    restorable:
      all.length > 0 && all.every((one) => one.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled),
  };
  return Object.entries(guards).flatMap(([guard, is]) => (is ? [guard] : []));
}

const keptOf = (resource: Resource): z.output<typeof keptShape> => ({
  type: resource.Type,
  fixed: Object.fromEntries(
    (createOnly.get(resource.Type) ?? []).flatMap((name) =>
      name in resource.Properties ? [[name, JSON.stringify(resource.Properties[name])]] : [],
    ),
  ),
  guards: guardsOf(resource),
});

function stackOf({ isProtected, template }: MadeStack): DeployedStack {
  const json = template.toJSON();
  const { Resources, Outputs } = templateShape.parse(json);
  const imports = [...JSON.stringify(json).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(
    ([, name = '']) => name,
  );
  return {
    isProtected,
    exports: Object.fromEntries(
      Object.values(Outputs).flatMap(({ Export, Value }) =>
        Export === undefined ? [] : [[Export.Name, JSON.stringify(Value)]],
      ),
    ),
    imports: [...new Set(imports)].sort(),
    kept: Object.fromEntries(
      Object.entries(Resources).flatMap(([id, resource]) =>
        stateful.includes(resource.Type) ? [[id, keptOf(resource)]] : [],
      ),
    ),
  };
}

export const deployedOf = (stacks: readonly MadeStack[]): Deployed =>
  Object.fromEntries(stacks.map((stack) => [stack.name, stackOf(stack)]));

/** The order of `cdk deploy --all`: exports before imports. */
export const deploymentOrder = (of: Deployed): string[] =>
  ['-State', '-Service', '-Management'].flatMap((end) =>
    Object.keys(of).filter((name) => name.endsWith(end)),
  );

/** The order in which a release is rolled back. The newer release's state stays. */
export const wayBack = (of: Deployed): string[] =>
  deploymentOrder(of)
    .filter((name) => !name.endsWith('-State'))
    .toReversed();

/**
 * Deploys stacks over others, as CloudFormation would.
 *
 * @param order the names of the stacks to deploy
 * @returns CloudFormation's refusals, as sentences
 */
export function refusals(before: Deployed, after: Deployed, order: readonly string[]): string[] {
  const now = { ...before };
  return order.flatMap((name) => {
    const next = after[name];
    if (next === undefined) return [];
    const others = Object.entries(now).filter(([other]) => other !== name);
    const exported = new Set(others.flatMap(([, stack]) => Object.keys(stack.exports)));
    const refused = [
      ...next.imports
        .filter((wanted) => !exported.has(wanted))
        .map((wanted) => `No export named ${wanted} found, for ${name}`),
      ...Object.entries(now[name]?.exports ?? {}).flatMap(([key, value]) =>
        next.exports[key] === value
          ? []
          : others
              .filter(([, { imports }]) => imports.includes(key))
              .map(([user]) => `Cannot update or delete export ${key} as it is in use by ${user}`),
      ),
    ];
    now[name] = next;
    return refused;
  });
}

/** @returns what is lost when stacks are deployed over others, as sentences */
export const losses = (before: Deployed, after: Deployed, order: readonly string[]): string[] =>
  order.flatMap((name) => {
    const [old, next] = [before[name], after[name]];
    if (old === undefined || next === undefined) return [];
    return [
      ...(old.isProtected && !next.isProtected ? [`${name} is no longer protected from deletion`] : []),
      ...Object.entries(old.kept).flatMap(([id, was]) => {
        const is = next.kept[id];
        if (is?.type !== was.type) return [`${was.type} ${id} is gone`];
        const changed = [...new Set([...Object.keys(was.fixed), ...Object.keys(is.fixed)])].filter(
          (property) => was.fixed[property] !== is.fixed[property],
        );
        return [
          ...changed.map((property) => `${was.type} ${id} is replaced for its ${property}`),
          ...was.guards
            .filter((guard) => !is.guards.includes(guard))
            .map((guard) => `${was.type} ${id} is no longer ${guard}`),
        ];
      }),
    ];
  });
