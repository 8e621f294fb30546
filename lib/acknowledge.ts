/**
 * Findings of cdk-nag (its pack AwsSolutions) that are accepted, each with its reason. They are written down with the resources
 * in the CDK's own way, so an organisation that checks the app with cdk-nag gets what is not accepted here, and nothing else.
 * A test fails on every other finding, and on every line here that no finding needs any more.
 */
import { type Stack, Token, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import * as z from 'zod';
import { consoleRoutes, gatewayPath, managementRoutes, type Route, routes } from '../lambdas/http/routes.ts';
import { SvcFunction } from './functions/function.ts';
import type { ManagementStack } from './managementStack.ts';
import { scheduleGroupOf } from './names.ts';
import { valuesIn } from './regional.ts';
import type { ServiceStack } from './serviceStack.ts';
import type { Settings } from './settings.ts';
import type { Stacks } from './stacks.ts';
import type { StateStack } from './stateStack.ts';

interface Accepted {
  /** The rule; with the finding in brackets, where a rule can find several things in one resource. */
  readonly rule: string;
  /** The constructs, by their paths below the stack. */
  readonly at: readonly string[];
  readonly reason: string;
}

/** Accepts the findings in all stacks of a deployment. */
export function acknowledgeFindings(
  { stateStacks, serviceStacks, managementStacks }: Stacks,
  settings: Settings,
): void {
  for (const stack of stateStacks) acknowledge(stack, acceptedInState(stack, settings));
  for (const [at, stack] of serviceStacks.entries()) {
    acknowledge(stack, acceptedInService(stack, stateStacks[at], settings));
  }
  for (const stack of managementStacks) acknowledge(stack, acceptedInManagement(stack, settings));
}

function acknowledge(stack: Stack, accepted: readonly Accepted[]): void {
  for (const { rule, at, reason } of accepted) {
    for (const path of at) Validations.of(below(stack, path)).acknowledge({ id: rule, reason });
  }
}

/** @throws Error when the stack has no construct at this path: the line that names it is out of date */
function below(stack: Stack, path: string): IConstruct {
  return path.split('/').reduce<IConstruct>((parent, id) => {
    const child = parent.node.tryFindChild(id);
    if (child === undefined) {
      throw new Error(`lib/acknowledge.ts names ${path}, which ${stack.stackName} does not have.`);
    }
    return child;
  }, stack);
}

const acceptedInState = (stack: StateStack, { retain, regions }: Settings): readonly Accepted[] => [
  ...(retain
    ? []
    : [
        {
          rule: 'AwsSolutions-S1',
          at: ['Bodies'],
          reason:
            'Without `retain` everything goes with its stack, and S3 deletes no bucket that has something in it. Access logs come ' +
            'for hours after the last request, so their bucket would stay.',
        },
      ]),
  ...(stack.region === regions[0]
    ? [
        {
          rule: 'AwsSolutions-SMG4',
          at: ['MasterSecret'],
          reason:
            'Every token and signing key is derived from it, so a new value needs an overlap in which customers take over ' +
            'their new tokens. A person decides when it ends: docs/deploy.md, "Another master secret".',
        },
        {
          rule: 'AwsSolutions-SMG4',
          at: ['ManagementSecret'],
          reason:
            'People and scripts know this password, and a new one would lock them out at a time they do not know. ' +
            'An operator sets it with one command and no deployment: docs/deploy.md.',
        },
      ]
    : []),
];

/** The functions that store bodies, read them or delete them. */
const usersOfBodies = [
  'Publish',
  'MessagesApi',
  'DlqApi',
  'Schedules',
  'Workflows',
  'DeliverShort',
  'DeliverLong',
  'DeliverAlone',
  'Fire',
  'FollowAccount',
];

/** The functions that make schedules or end them: the same, because what has a body may be due later, and those of lanes. */
const usersOfSchedules = [...usersOfBodies, 'QueuesApi', 'FlowControl'];

const policiesOf = (functions: readonly string[]): readonly string[] =>
  functions.map((id) => `${id}Role/DefaultPolicy`);

function acceptedInService(
  stack: ServiceStack,
  state: StateStack | undefined,
  settings: Settings,
): readonly Accepted[] {
  const account = Token.isUnresolved(stack.account) ? '<AWS::AccountId>' : stack.account;
  const schedules = `arn:<AWS::Partition>:scheduler:${stack.region}:${account}:schedule/${scheduleGroupOf(settings)}/*`;
  return [
    {
      rule: 'AwsSolutions-SQS3',
      at: ['Queues/Fire'],
      reason:
        'Receives also count when AWS is away or has no room for the function, so a dead letter queue would take what only has ' +
        'to wait. The function counts the deaths of its workers itself, and gives a fire up into UndeliveredFires.',
    },
    {
      rule: 'AwsSolutions-SQS3',
      at: ['Queues/AccountChanges'],
      reason: 'A change of an account is followed again and again until it is done: it may not be given up.',
    },
    {
      rule: 'AwsSolutions-SQS3',
      at: ['Queues/UndeliveredFires'],
      reason:
        'It is the dead letter queue of the schedules in EventBridge Scheduler, which the rule does not know.',
    },
    ...acceptedOfApi(settings),
    ...acceptedOfFunctions(stack, settings),
    ...acceptedOfNetwork(stack, settings),
    ...acceptedWithoutCredentials([...routes, ...consoleRoutes]),
    ...withoutAuthorizer(
      routes.filter(({ access }) => access !== 'open'),
      'The function itself checks the token, which also says whose messages they are. An authorizer would be one more ' +
        'invocation for each request. A test calls each route without a token: test/e2e/openapi.test.ts.',
    ),
    {
      rule: `AwsSolutions-IAM5[Resource::${schedules}]`,
      at: policiesOf(usersOfSchedules),
      reason:
        'A schedule is made for an attempt that is due later, and its name is the message. The group, which is in the ARN, ' +
        'bounds the right.',
    },
    ...(state === undefined
      ? []
      : [
          {
            rule: `AwsSolutions-IAM5[Resource::${nameOfExport(state, state.bodies.bucketArn)}/*]`,
            at: policiesOf(usersOfBodies),
            reason:
              'A body has the name of its message. The right is to objects of this one bucket, not to the bucket.',
          },
        ]),
    ...(settings.gatewayLogRole
      ? [
          {
            rule: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
            at: ['ApiLogRole'],
            reason:
              'API Gateway has one such role for all APIs of an AWS account and region, those of others included. AWS documents ' +
              'this policy for it.',
          },
        ]
      : []),
  ];
}

const importValue = z.object({ 'Fn::ImportValue': z.string() });

/** The name under which a stack exports a value, as CloudFormation's `Fn::ImportValue` has it in the stacks that use it. */
function nameOfExport(stack: Stack, value: string): string {
  const imported: unknown = stack.resolve(stack.exportValue(value));
  return importValue.parse(imported)['Fn::ImportValue'];
}

/** The same for each API. */
const acceptedOfApi = ({ firewall }: Settings): readonly Accepted[] => [
  {
    rule: 'AwsSolutions-APIG2',
    at: ['Api'],
    reason:
      'The functions validate: their answers name the field and what is allowed. The gateway would have to know JSON, and every ' +
      'body counts as bytes, so that it arrives as it was sent.',
  },
  ...(firewall
    ? []
    : [
        {
          rule: 'AwsSolutions-APIG3',
          at: ['Api/DeploymentStage.api'],
          reason:
            'A firewall costs $8 a month, and for each request. Throttles, tokens and limits hold without it; the setting `firewall` ' +
            'puts one before the stage.',
        },
      ]),
  {
    rule: 'AwsSolutions-APIG6',
    at: ['Api/DeploymentStage.api'],
    reason:
      'Execution logs have paths and queries, and so the destinations and tokens in them. The access log has a line for each ' +
      'request, without either.',
  },
];

/** The functions that the setting `vpcs` or `fixedAddresses` puts into a VPC. */
const connectedFunctions = ['DeliverShort', 'DeliverLong', 'DeliverAlone'];

/** Rights that name no resource, because AWS knows none for them. */
function acceptedOfFunctions(stack: Stack, settings: Settings): readonly Accepted[] {
  const all = stack.node.children.filter((child) => child instanceof SvcFunction).map(({ node }) => node.id);
  const isConnected = (id: string): boolean =>
    connectedFunctions.includes(id) &&
    valuesIn([...settings.vpcs, ...settings.fixedAddresses], stack.region).length > 0;
  const ofTracing = settings.tracing
    ? ['X-Ray knows no resource that the rights to send traces could name.']
    : [];
  const ofVpc =
    'Lambda connects the function to its VPC with these rights, which it asks for on all resources; a refusal keeps them from the ' +
    'function’s own code.';
  return all.flatMap((id) => {
    const reasons = [...(isConnected(id) ? [ofVpc] : []), ...ofTracing];
    return reasons.length === 0
      ? []
      : [{ rule: 'AwsSolutions-IAM5[Resource::*]', at: policiesOf([id]), reason: reasons.join(' ') }];
  });
}

/** The VPC that the setting `fixedAddresses` makes. */
const acceptedOfNetwork = (stack: Stack, { fixedAddresses }: Settings): readonly Accepted[] =>
  valuesIn(fixedAddresses, stack.region).length === 0
    ? []
    : [
        {
          rule: 'AwsSolutions-VPC7',
          at: ['Network/Vpc'],
          reason:
            'Nothing connects into it, and all that connects out of it are deliveries, of which the log has each attempt. Flow logs would ' +
            'be billed for each connection once more.',
        },
      ];

/** The operations that any API answers without credentials. */
const acceptedWithoutCredentials = (routesOfApi: readonly Route[]): readonly Accepted[] => [
  ...withoutAuthorizer(
    routesOfApi.filter(({ access }) => access === 'open'),
    'Open to everybody: the description, the health check, and the files of the console, which has no data of its own.',
  ),
  ...withoutAuthorizer(
    routesOfApi.map((route) => ({ ...route, method: 'ANY' })),
    'Every other method is answered with 405, by the gateway itself or, where several paths share a resource, by the function.',
  ),
];

interface Method extends Pick<Route, 'path'> {
  readonly method: string;
}

/** Accepts for methods that no authorizer stands before their function. */
const withoutAuthorizer = (methods: readonly Method[], reason: string): readonly Accepted[] =>
  ['AwsSolutions-APIG4', 'AwsSolutions-COG4'].map((rule) => ({ rule, at: methodsOf(methods), reason }));

const methodsOf = (methods: readonly Method[]): readonly string[] => [
  ...new Set(methods.map(({ path, method }) => `Api/Default${gatewayPath({ path })}/${method}`)),
];

const acceptedInManagement = (stack: ManagementStack, settings: Settings): readonly Accepted[] => [
  ...acceptedOfApi(settings),
  ...acceptedOfFunctions(stack, settings),
  ...acceptedWithoutCredentials([...managementRoutes, ...consoleRoutes]),
  {
    rule: 'AwsSolutions-COG4',
    at: methodsOf(managementRoutes.filter(({ access }) => access === 'management')),
    reason:
      'Operators are known by a name and a password, which an authorizer of the service checks. A user pool would be one more ' +
      'thing to run for what is often one person.',
  },
];
