import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { joined, properties, reference, resources, synthesize, synthesizeOne } from './app.ts';

const { service, management } = synthesizeOne();

const functionShape = z.object({
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
const nameOf = (variables: Record<string, unknown>) => z.string().parse(variables['POWERTOOLS_SERVICE_NAME']);
const functionsOf = (template: Template) =>
  properties(template, 'AWS::Lambda::Function', functionShape).map((found) => ({
    ...found,
    name: nameOf(found.Environment.Variables),
  }));
const messagingFunctions = functionsOf(service);
const functions = [...messagingFunctions, ...functionsOf(management)];

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
const statementsOf = (template: Template) =>
  properties(template, 'AWS::IAM::Policy', policyShape).flatMap((policy) =>
    policy.PolicyDocument.Statement.map((statement) => ({ ...statement, roles: policy.Roles })),
  );
const statements = [service, management].flatMap(statementsOf);

/** What a function's role allows besides writing its log, as text: action, and the resource it names. */
function mayDo(name: string, template = service, named = shortName): string[] {
  const role = functionsOf(template).find((found) => found.name === name)?.Role;
  return statementsOf(template)
    .filter(({ roles }) => role !== undefined && roles.includes(role))
    .flatMap(({ Action, Resource }) =>
      Action.filter((action) => !action.startsWith('logs:')).flatMap((action) =>
        (Array.isArray(Resource) ? (Resource as unknown[]) : [Resource]).map(
          (resource) => `${action} ${named(resource)}`,
        ),
      ),
    )
    .sort();
}

function shortName(resource: unknown): string {
  const text = JSON.stringify(resource);
  const known = [
    'Messages',
    'Dlq',
    'Svc-accounts',
    'Svc-usage',
    'Groups',
    'QueueTable',
    'Deduplication',
    'ScheduleTable',
    'QueuesUndeliveredFires',
    'QueuesFire',
    'SchedulingRole',
    ':schedule/',
    'Bodies',
    'QueuesShort',
    'QueuesLong',
    'QueuesDead',
    'QueuesAccountChanges',
    'Svc/master',
  ];
  return known.find((name) => text.includes(name)) ?? text;
}

const countUsage = ['dynamodb:Query Svc-usage', 'dynamodb:UpdateItem Svc-usage'];
const authenticate = [
  ...countUsage,
  'dynamodb:GetItem Svc-accounts',
  'secretsmanager:GetSecretValue Svc/master',
];
const askForLook = [
  'dynamodb:GetItem Svc-usage',
  'dynamodb:PutItem Svc-usage',
  'sqs:SendMessage QueuesAccountChanges',
];
const ensureQueues = ['GetItem', 'PutItem', 'Query'].map((action) => `dynamodb:${action} QueueTable`);
const sendNow = ['SendMessage', 'SendMessageBatch'].flatMap((action) => [
  `sqs:${action} QueuesLong`,
  `sqs:${action} QueuesShort`,
]);
const sendLater = ['iam:PassRole SchedulingRole', 'scheduler:CreateSchedule :schedule/'];
const sendPointers = [...sendNow, ...sendLater];
const unschedule = 'scheduler:DeleteSchedule :schedule/';
const perform = [
  ...authenticate,
  ...askForLook,
  ...sendPointers,
  'dynamodb:BatchWriteItem Messages',
  'dynamodb:DeleteItem Messages',
  'dynamodb:GetItem Messages',
  'dynamodb:PutItem Dlq',
  'dynamodb:PutItem Messages',
  'dynamodb:DeleteItem Svc-usage',
  'dynamodb:Query Dlq',
  'dynamodb:Query Messages',
  'dynamodb:UpdateItem Dlq',
  'dynamodb:UpdateItem Messages',
  's3:GetObject Bodies',
  's3:PutObject Bodies',
];
const consume = (queue: string) =>
  ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'].map((action) => `${action} ${queue}`);

describe('the roles', () => {
  it('are one for each function', () => {
    const roles = functions.map(({ Role }) => Role);
    expect(new Set(roles).size).toBe(roles.length);
    for (const role of roles) {
      const found = [service, management].flatMap(
        (template) => resources(template, 'AWS::IAM::Role').get(role) ?? [],
      );
      expect(found).toHaveLength(1);
      // Everything a function may do is in its own statements.
      expect(found[0]?.Properties['ManagedPolicyArns']).toBeUndefined();
    }
  });

  it.each<[string, string[]]>([
    [
      'Publish',
      [
        ...authenticate,
        ...ensureQueues,
        ...sendPointers,
        'dynamodb:BatchWriteItem Messages',
        'dynamodb:GetItem Groups',
        'dynamodb:DeleteItem Deduplication',
        'dynamodb:PutItem Deduplication',
        'dynamodb:UpdateItem Deduplication',
        'dynamodb:PutItem Messages',
        'dynamodb:Query Messages',
        's3:PutObject Bodies',
      ],
    ],
    [
      'MessagesApi',
      [
        ...authenticate,
        'dynamodb:GetItem Messages',
        'dynamodb:PutItem Messages',
        'dynamodb:Query Messages',
        's3:GetObject Bodies',
        unschedule,
      ],
    ],
    ['Logs', [...authenticate, 'dynamodb:Query Messages', 'dynamodb:Query Messages']],
    [
      'Topics',
      [
        ...authenticate,
        'dynamodb:DeleteItem Groups',
        'dynamodb:GetItem Groups',
        'dynamodb:PutItem Groups',
        'dynamodb:Query Groups',
      ],
    ],
    ['QueuesApi', [...authenticate, ...ensureQueues, 'dynamodb:DeleteItem QueueTable']],
    [
      'DlqApi',
      [
        ...authenticate,
        ...sendPointers,
        'dynamodb:BatchWriteItem Messages',
        'dynamodb:GetItem Dlq',
        'dynamodb:GetItem Messages',
        'dynamodb:Query Dlq',
        'dynamodb:Query Messages',
        'dynamodb:UpdateItem Dlq',
        's3:GetObject Bodies',
        's3:PutObject Bodies',
      ],
    ],
    [
      'Schedules',
      [
        ...authenticate,
        ...ensureQueues,
        ...sendLater,
        unschedule,
        'dynamodb:BatchWriteItem Messages',
        'dynamodb:DeleteItem Messages',
        'dynamodb:DeleteItem ScheduleTable',
        'dynamodb:GetItem Groups',
        'dynamodb:GetItem Messages',
        'dynamodb:GetItem ScheduleTable',
        'dynamodb:PutItem ScheduleTable',
        'dynamodb:Query Messages',
        'dynamodb:Query ScheduleTable',
        'dynamodb:UpdateItem ScheduleTable',
        's3:DeleteObject Bodies',
        's3:GetObject Bodies',
        's3:PutObject Bodies',
      ],
    ],
    [
      'Fire',
      [
        ...countUsage,
        ...ensureQueues,
        ...sendPointers,
        ...consume('QueuesFire'),
        unschedule,
        'dynamodb:BatchWriteItem Messages',
        'dynamodb:GetItem Svc-accounts',
        'dynamodb:GetItem Groups',
        'dynamodb:GetItem Messages',
        'dynamodb:GetItem ScheduleTable',
        'dynamodb:PutItem ScheduleTable',
        'dynamodb:UpdateItem ScheduleTable',
        's3:GetObject Bodies',
        's3:PutObject Bodies',
      ],
    ],
    ['Description', []],
    ['DeliverShort', [...perform, ...consume('QueuesShort')]],
    ['DeliverLong', [...perform, ...consume('QueuesLong')]],
    ['Abandon', [...perform, ...consume('QueuesDead')]],
    ['Keys', [...authenticate, 'dynamodb:PutItem Svc-accounts']],
    [
      'AccountChange',
      [
        ...sendPointers,
        ...consume('QueuesAccountChanges'),
        ...askForLook,
        unschedule,
        'dynamodb:DeleteItem Groups',
        'dynamodb:DeleteItem Messages',
        'dynamodb:DeleteItem QueueTable',
        'dynamodb:Query QueueTable',
        'dynamodb:DeleteItem ScheduleTable',
        'dynamodb:GetItem Groups',
        'dynamodb:GetItem Messages',
        'dynamodb:GetItem ScheduleTable',
        'dynamodb:GetItem Svc-accounts',
        'dynamodb:Query Groups',
        'dynamodb:Query Messages',
        'dynamodb:Query ScheduleTable',
        'dynamodb:Query Svc-usage',
        'dynamodb:UpdateItem Messages',
        's3:DeleteObject Bodies',
      ],
    ],
  ])('let %s do what it must, and nothing else', (name, permissions) => {
    expect(mayDo(name)).toEqual(permissions.sort());
  });

  it('let the management API into the accounts of every region, and into little else', () => {
    const arn = (resource: unknown) =>
      joined.parse(resource).replace(/^arn:aws:(\w+):([\w-]+):111122223333:(table\/|secret:)?/, '$2 ');
    const inBoth = (permission: string, name: string) =>
      ['eu-central-1', 'us-east-1'].map((region) => `${permission} ${region} ${name}`);
    expect(mayDo('Operator', synthesize().management, arn)).toEqual([
      'dynamodb:GetItem eu-central-1 Svc-usage',
      'dynamodb:UpdateItem eu-central-1 Svc-usage',
      'secretsmanager:GetSecretValue eu-central-1 Svc/management-??????',
    ]);
    expect(mayDo('Accounts', synthesize().management, arn)).toEqual(
      [
        ...inBoth('dynamodb:GetItem', 'Svc-accounts'),
        ...inBoth('dynamodb:PutItem', 'Svc-accounts'),
        ...inBoth('dynamodb:Scan', 'Svc-accounts'),
        ...inBoth('dynamodb:Query', 'Svc-usage'),
        ...inBoth('sqs:SendMessage', 'Svc-account-changes'),
        'dynamodb:GetItem eu-central-1 Svc-usage',
        'dynamodb:UpdateItem eu-central-1 Svc-usage',
        'secretsmanager:GetSecretValue eu-central-1 Svc/management-??????',
        'secretsmanager:GetSecretValue eu-central-1 Svc/master-??????',
      ].sort(),
    );
  });

  it('let no function of a region write accounts but the one that rotates keys, nor read the management password', () => {
    for (const { name } of messagingFunctions) {
      const permissions = mayDo(name);
      const writes = permissions.filter((permission) =>
        /^dynamodb:(Put|Update|Delete|BatchWrite)\w* Svc-accounts/.test(permission),
      );
      expect([name, writes]).toEqual([name, name === 'Keys' ? ['dynamodb:PutItem Svc-accounts'] : []]);
      expect(permissions.join()).not.toContain('management');
    }
  });

  it('name no action by a pattern', () => {
    for (const { Action } of statements) {
      for (const action of Action) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
    }
  });

  it('name no resource by a pattern, save objects, schedules of the group, and the suffix of a secret', () => {
    for (const { Resource } of statements) {
      expect(Resource).not.toBe('*');
      const text = JSON.stringify(Resource);
      if (/[*?]/.test(text))
        expect(text).toMatch(/Bodies[^*]*"\/\*"|:schedule\/Svc\/\*"|:secret:Svc\/(master|management)-\?{6}"/);
    }
  });

  it('are assumed by Lambda only, by the gateway for its log, or by Scheduler for what it sends', () => {
    const roleShape = z.object({
      AssumeRolePolicyDocument: z.object({
        Statement: z.tuple([z.object({ Principal: z.object({ Service: z.string() }) })]),
      }),
    });
    const trust = [service, management]
      .flatMap((template) => properties(template, 'AWS::IAM::Role', roleShape))
      .map((role) => role.AssumeRolePolicyDocument.Statement[0].Principal.Service);
    expect([...new Set(trust)].sort()).toEqual([
      'apigateway.amazonaws.com',
      'lambda.amazonaws.com',
      'scheduler.amazonaws.com',
    ]);
  });
});

describe('the functions', () => {
  it('are these', () => {
    expect(functions.map(({ name, Code }) => `${name} ${Code.ZipFile}`).sort()).toEqual([
      'Abandon // abandon',
      'AccountChange // accountChange',
      'Accounts // accounts',
      'DeliverLong // deliver',
      'DeliverShort // deliver',
      'Description // description',
      'DlqApi // dlq',
      'Fire // fire',
      'Keys // keys',
      'Logs // logs',
      'MessagesApi // messages',
      'Operator // operator',
      'Publish // publish',
      'QueuesApi // queues',
      'Schedules // schedules',
      'Topics // topics',
    ]);
  });

  it('run on arm64 and the current Node', () => {
    for (const found of functions) {
      expect(found).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      });
    }
  });

  it('answer the gateway before it gives up after 29 s', () => {
    const behindQueues = ['DeliverShort', 'DeliverLong', 'Abandon', 'Fire', 'AccountChange'];
    for (const { name, Timeout } of functions) {
      if (!behindQueues.includes(name)) expect([name, Timeout]).toEqual([name, 28]);
    }
  });

  it('may go on in a chain through the queues, where Lambda would end a loop after 16 rounds', () => {
    for (const { name, RecursiveLoop } of functions) {
      const inAChain = ['DeliverShort', 'DeliverLong', 'Abandon', 'AccountChange'].includes(name);
      expect([name, RecursiveLoop]).toEqual([name, inAChain ? 'Allow' : 'Terminate']);
    }
  });

  it('know everything that their settings ask for', () => {
    for (const { Environment, name } of functions) {
      expect(Object.keys(Environment.Variables).sort(), name).toEqual([
        'ACCOUNTS_TABLE',
        'ACCOUNT_CHANGES_QUEUES',
        'ALLOWED_DESTINATIONS',
        'BODIES_BUCKET',
        'DEAD_QUEUE_ARN',
        'DEDUPLICATION_TABLE',
        'DLQ_TABLE',
        'FIRE_QUEUE_ARN',
        'GROUPS_TABLE',
        'HEADER_PREFIXES',
        'LONG_QUEUE_ARN',
        'LONG_QUEUE_URL',
        'MANAGEMENT_SECRET_ID',
        'MASTER_SECRET_ID',
        'MESSAGES_TABLE',
        'OWN_HOSTS',
        'POWERTOOLS_LOG_LEVEL',
        'POWERTOOLS_METRICS_NAMESPACE',
        'POWERTOOLS_SERVICE_NAME',
        'PRICE_PER_MESSAGE',
        'QUEUES_TABLE',
        'SCHEDULER_DLQ_ARN',
        'SCHEDULER_ROLE_ARN',
        'SCHEDULES_TABLE',
        'SCHEDULE_GROUP',
        'SHORT_QUEUE_ARN',
        'SHORT_QUEUE_URL',
        'USAGE_TABLE',
      ]);
    }
  });

  it('know the price of a message and the name of their metrics', () => {
    const priced = synthesizeOne({ pricePerMessage: '0.25', name: 'Queue' });
    for (const template of [priced.service, priced.management]) {
      template.allResourcesProperties('AWS::Lambda::Function', {
        Environment: { Variables: { PRICE_PER_MESSAGE: '0.25', POWERTOOLS_METRICS_NAMESPACE: 'Queue' } },
      });
    }
    expect(functions[0]?.Environment.Variables).toMatchObject({
      PRICE_PER_MESSAGE: '0.00001',
      POWERTOOLS_METRICS_NAMESPACE: 'Svc',
    });
  });

  it('that deliver know the hosts of the API itself, so that no message goes in circles', () => {
    const { service: configured } = synthesizeOne({ ownHosts: 'queue.example.com' });
    const found = properties(configured, 'AWS::Lambda::Function', functionShape);
    for (const { Environment } of found) {
      const own = JSON.stringify(Environment.Variables['OWN_HOSTS']);
      expect(own).toContain('queue.example.com');
      if (/^(Deliver|Abandon)/.test(nameOf(Environment.Variables))) {
        expect(own).toContain('.execute-api.eu-central-1.');
      }
    }
  });
});

describe('the logs', () => {
  it('are one for each function and one for each API, in JSON, without the lines of Lambda itself', () => {
    const groups = functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup);
    expect(new Set(groups).size).toBe(functions.length);
    service.resourceCountIs('AWS::Logs::LogGroup', messagingFunctions.length + 1);
    management.resourceCountIs('AWS::Logs::LogGroup', 2 + 1);
    for (const { LoggingConfig } of functions) {
      expect(LoggingConfig).toMatchObject({
        LogFormat: 'JSON',
        ApplicationLogLevel: 'INFO',
        SystemLogLevel: 'WARN',
      });
    }
  });

  it('end after the days that the settings say', () => {
    const short = synthesizeOne({ logRetentionDays: '3', logLevel: 'DEBUG' });
    for (const template of [short.service, short.management]) {
      for (const { Properties } of resources(template, 'AWS::Logs::LogGroup').values()) {
        expect(Properties).toMatchObject({ RetentionInDays: 3 });
      }
      template.allResourcesProperties('AWS::Lambda::Function', {
        LoggingConfig: { ApplicationLogLevel: 'DEBUG' },
        Environment: { Variables: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } },
      });
    }
  });
});
