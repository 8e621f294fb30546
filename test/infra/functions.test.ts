import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { properties, reference, resources, synthesizeOne } from './app.ts';

const { service } = synthesizeOne();

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
const functions = properties(service, 'AWS::Lambda::Function', functionShape).map((found) => ({
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
const statements = properties(service, 'AWS::IAM::Policy', policyShape).flatMap((policy) =>
  policy.PolicyDocument.Statement.map((statement) => ({ ...statement, roles: policy.Roles })),
);

/** What a function's role allows besides writing its log, as text: action, and the resource it names. */
function mayDo(name: string): string[] {
  const role = functions.find((found) => found.name === name)?.Role;
  return statements
    .filter(({ roles }) => role !== undefined && roles.includes(role))
    .flatMap(({ Action, Resource }) =>
      Action.flatMap((action) =>
        (Array.isArray(Resource) ? Resource : [Resource]).map(
          (resource) => `${action} ${shortName(JSON.stringify(resource))}`,
        ),
      ),
    )
    .filter((permission) => !permission.startsWith('logs:'))
    .sort();
}

function shortName(resource: string): string {
  const known = [
    'Messages',
    'Dlq',
    'Accounts',
    'Groups',
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
    'master',
  ];
  return known.find((name) => resource.includes(name)) ?? resource;
}

const authenticate = ['dynamodb:GetItem Accounts', 'secretsmanager:GetSecretValue master'];
const sendNow = ['SendMessage', 'SendMessageBatch'].flatMap((action) => [
  `sqs:${action} QueuesLong`,
  `sqs:${action} QueuesShort`,
]);
const sendLater = ['iam:PassRole SchedulingRole', 'scheduler:CreateSchedule :schedule/'];
const sendPointers = [...sendNow, ...sendLater];
const unschedule = 'scheduler:DeleteSchedule :schedule/';
const perform = [
  ...authenticate,
  ...sendPointers,
  'dynamodb:BatchWriteItem Messages',
  'dynamodb:GetItem Messages',
  'dynamodb:PutItem Dlq',
  'dynamodb:PutItem Messages',
  'dynamodb:Query Dlq',
  'dynamodb:Query Messages',
  'dynamodb:UpdateItem Dlq',
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
      const found = resources(service, 'AWS::IAM::Role').get(role);
      // Everything a function may do is in its own statements.
      expect(found?.Properties['ManagedPolicyArns']).toBeUndefined();
    }
  });

  it.each<[string, string[]]>([
    [
      'Publish',
      [
        ...authenticate,
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
        ...sendPointers,
        ...consume('QueuesFire'),
        unschedule,
        'dynamodb:BatchWriteItem Messages',
        'dynamodb:GetItem Accounts',
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
    [
      'CreateAccount',
      ['dynamodb:GetItem Accounts', 'dynamodb:PutItem Accounts', 'secretsmanager:GetSecretValue master'],
    ],
  ])('let %s do what it must, and nothing else', (name, permissions) => {
    expect(mayDo(name)).toEqual(permissions.sort());
  });

  it('name no action by a pattern', () => {
    for (const { Action } of statements) {
      for (const action of Action) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
    }
  });

  it('name no resource by a pattern, save objects, schedules of the group, and the suffix of the secret', () => {
    for (const { Resource } of statements) {
      expect(Resource).not.toBe('*');
      const text = JSON.stringify(Resource);
      if (/[*?]/.test(text))
        expect(text).toMatch(/Bodies[^*]*"\/\*"|:schedule\/Svc\/\*"|:secret:Svc\/master-\?{6}"/);
    }
  });

  it('are assumed by Lambda only, by the gateway for its log, or by Scheduler for what it sends', () => {
    const trust = properties(
      service,
      'AWS::IAM::Role',
      z.object({
        AssumeRolePolicyDocument: z.object({
          Statement: z.tuple([z.object({ Principal: z.object({ Service: z.string() }) })]),
        }),
      }),
    ).map((role) => role.AssumeRolePolicyDocument.Statement[0].Principal.Service);
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
      'CreateAccount // createAccount',
      'DeliverLong // deliver',
      'DeliverShort // deliver',
      'Description // description',
      'DlqApi // dlq',
      'Fire // fire',
      'Logs // logs',
      'MessagesApi // messages',
      'Publish // publish',
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
    for (const name of ['Publish', 'MessagesApi', 'Logs', 'Topics', 'DlqApi', 'Schedules', 'Description']) {
      expect(functions.find((found) => found.name === name)?.Timeout).toBeLessThan(29);
    }
  });

  it('may go on in a chain through the queues, where Lambda would end a loop after 16 rounds', () => {
    for (const { name, RecursiveLoop } of functions) {
      const inAChain = ['DeliverShort', 'DeliverLong', 'Abandon'].includes(name);
      expect([name, RecursiveLoop]).toEqual([name, inAChain ? 'Allow' : 'Terminate']);
    }
  });

  it('know everything that their settings ask for', () => {
    for (const { Environment, name } of functions) {
      expect(Object.keys(Environment.Variables).sort(), name).toEqual([
        'ACCOUNTS_TABLE',
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
        'MASTER_SECRET_ID',
        'MESSAGES_TABLE',
        'OWN_HOSTS',
        'POWERTOOLS_LOG_LEVEL',
        'POWERTOOLS_SERVICE_NAME',
        'SCHEDULER_DLQ_ARN',
        'SCHEDULER_ROLE_ARN',
        'SCHEDULES_TABLE',
        'SCHEDULE_GROUP',
        'SHORT_QUEUE_ARN',
        'SHORT_QUEUE_URL',
      ]);
    }
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
  it('are one for each function and one for the API, in JSON, without the lines of Lambda itself', () => {
    const groups = functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup);
    expect(new Set(groups).size).toBe(functions.length);
    service.resourceCountIs('AWS::Logs::LogGroup', functions.length + 1);
    for (const { LoggingConfig } of functions) {
      expect(LoggingConfig).toMatchObject({
        LogFormat: 'JSON',
        ApplicationLogLevel: 'INFO',
        SystemLogLevel: 'WARN',
      });
    }
  });

  it('end after the days that the settings say', () => {
    const short = synthesizeOne({ logRetentionDays: '3', logLevel: 'DEBUG' }).service;
    for (const { Properties } of resources(short, 'AWS::Logs::LogGroup').values()) {
      expect(Properties).toMatchObject({ RetentionInDays: 3 });
    }
    short.allResourcesProperties('AWS::Lambda::Function', {
      LoggingConfig: { ApplicationLogLevel: 'DEBUG' },
      Environment: { Variables: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } },
    });
  });
});
