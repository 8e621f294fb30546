/** A template's functions, and what each role allows. */
import type { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { properties, reference } from './app.ts';

export const functionShape = z.object({
  Role: reference,
  Runtime: z.string(),
  Architectures: z.array(z.string()),
  Handler: z.string(),
  Timeout: z.number(),
  MemorySize: z.number(),
  RecursiveLoop: z.string(),
  Code: z.object({ ZipFile: z.string() }),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  LoggingConfig: z.object({
    LogFormat: z.string(),
    ApplicationLogLevel: z.string(),
    SystemLogLevel: z.string(),
    LogGroup: reference,
  }),
});

export const nameOf = (variables: Record<string, unknown>) =>
  z.string().parse(variables['POWERTOOLS_SERVICE_NAME']);

export const functionsOf = (template: Template) =>
  properties(template, 'AWS::Lambda::Function', functionShape).map((found) => ({
    ...found,
    name: nameOf(found.Environment.Variables),
  }));

const textOrList = z.union([z.string().transform((text) => [text]), z.array(z.string())]);
const policyShape = z.object({
  Roles: z.array(reference),
  PolicyDocument: z.object({
    Statement: z.array(
      z.object({
        Effect: z.literal('Allow'),
        Action: textOrList,
        Resource: z.unknown(),
        Condition: z.unknown().optional(),
      }),
    ),
  }),
});

export const statementsOf = (template: Template) =>
  properties(template, 'AWS::IAM::Policy', policyShape).flatMap((policy) =>
    policy.PolicyDocument.Statement.map((statement) => ({ ...statement, roles: policy.Roles })),
  );

/** Everything that a function's role allows besides writing its log, as sorted texts: an action, and its resource's name. */
export function rightsOf(template: Template, name: string, named = shortName): string[] {
  const role = functionsOf(template).find((found) => found.name === name)?.Role;
  return statementsOf(template)
    .filter(({ roles }) => role !== undefined && roles.includes(role))
    .flatMap(({ Action, Resource }) => {
      const resources: unknown[] = Array.isArray(Resource) ? Resource : [Resource];
      return Action.filter((action) => !action.startsWith('logs:')).flatMap((action) =>
        resources.map((resource) => `${action} ${named(resource)}`),
      );
    })
    .sort();
}

/** The tests' names of resources, each with a text that is in its ARN in the template. */
const names: readonly (readonly [text: string, name: string])[] = [
  ['/index/log', 'messages/index/log'],
  ['/index/present', 'dlq/index/present'],
  ['/index/names', 'lanes/index/names'],
  ['Messages', 'messages'],
  ['Dlq', 'dlq'],
  ['Groups', 'groups'],
  ['Lanes', 'lanes'],
  ['ScheduleTable', 'schedules'],
  ['Deduplication', 'deduplication'],
  ['Workflows', 'workflows'],
  ['Svc-accounts', 'accounts'],
  ['Svc-usage', 'usage'],
  ['Bodies', 'bodies'],
  ['QueuesShort', 'short'],
  ['QueuesLong', 'long'],
  ['QueuesSlow', 'slow'],
  ['QueuesParked', 'parked'],
  ['QueuesDead', 'dead'],
  ['QueuesFire', 'fire'],
  ['QueuesUndeliveredFires', 'undeliveredFires'],
  ['QueuesAccountChanges', 'accountChanges'],
  ['Svc-account-changes', 'accountChanges'],
  ['SchedulingRole', 'scheduler role'],
  [':schedule/', 'schedules'],
  ['Svc/master', 'master'],
  ['Svc/management', 'management'],
  ['Svc/tls/*', 'TLS'],
  ['defaultSecret', 'secret of an account'],
  [':function:', 'functions'],
  [':sqs:*:', 'queues of users'],
  [':sns:*:', 'topics'],
  [':event-bus/', 'buses'],
];

/** @throws Error for a resource without a name in the tests */
function shortName(resource: unknown): string {
  const text = JSON.stringify(resource);
  const found = names.find(([part]) => text.includes(part));
  if (found === undefined) throw new Error(`The tests have no name for ${text}.`);
  return found[1];
}
