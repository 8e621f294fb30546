import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { joined, properties, resources, synthesize, synthesizeOne } from './app.ts';
import { functionsOf, rightsOf, statementsOf } from './roles.ts';

const { service, management } = synthesizeOne();
const messagingFunctions = functionsOf(service);
const functions = [...messagingFunctions, ...functionsOf(management)];
const statements = [service, management].flatMap(statementsOf);

const countUsage = ['dynamodb:Query usage', 'dynamodb:UpdateItem usage'];
const countOutcomes = [
  'dynamodb:GetItem usage',
  'dynamodb:PutItem usage',
  'dynamodb:Query messages/index/log',
];
const authenticate = [...countUsage, 'dynamodb:GetItem accounts', 'secretsmanager:GetSecretValue master'];
/** Rights to the rows of the APIs' hosts, and to no account's: see the test of their rows. */
const knowHosts = 'dynamodb:BatchGetItem accounts';
const noteHost = 'dynamodb:UpdateItem accounts';
const answer = [...authenticate, knowHosts, noteHost];
const sendLater = ['iam:PassRole scheduler role', 'scheduler:CreateSchedule schedules'];
const sendWorkInBatches = [
  'sqs:SendMessage long',
  'sqs:SendMessage short',
  'sqs:SendMessageBatch long',
  'sqs:SendMessageBatch short',
  ...sendLater,
];
const changeLanes = [
  ...sendWorkInBatches,
  'dynamodb:BatchWriteItem lanes',
  'dynamodb:GetItem lanes',
  'dynamodb:PutItem lanes',
];
const nameLanes = 'dynamodb:Query lanes/index/names';
const listLanes = [nameLanes, 'dynamodb:BatchGetItem lanes'];
const ensureQueues = [...changeLanes, nameLanes];
const unschedule = 'scheduler:DeleteSchedule schedules';
const changeRuns = ['GetItem', 'PutItem', 'Query', 'UpdateItem'].map(
  (action) => `dynamodb:${action} workflows`,
);
const endRuns = [...changeRuns, 'dynamodb:BatchWriteItem workflows'];
const perform = [
  ...authenticate,
  knowHosts,
  ...changeLanes,
  ...endRuns,
  unschedule,
  'dynamodb:BatchGetItem messages',
  'dynamodb:DeleteItem lanes',
  'dynamodb:BatchWriteItem messages',
  'dynamodb:GetItem messages',
  'dynamodb:GetItem dlq',
  'dynamodb:PutItem dlq',
  'dynamodb:PutItem messages',
  'dynamodb:Query dlq/index/present',
  'dynamodb:Query messages',
  'dynamodb:UpdateItem dlq',
  'dynamodb:UpdateItem messages',
  's3:GetObject bodies',
  's3:ListBucket bodies',
  's3:PutObject bodies',
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
        ...answer,
        ...ensureQueues,
        'dynamodb:BatchWriteItem messages',
        'dynamodb:GetItem groups',
        'dynamodb:DeleteItem deduplication',
        'dynamodb:PutItem deduplication',
        'dynamodb:UpdateItem deduplication',
        'dynamodb:GetItem messages',
        'dynamodb:PutItem messages',
        's3:GetObject bodies',
        's3:PutObject bodies',
        ...changeRuns,
        'dynamodb:BatchGetItem messages',
        'dynamodb:Query messages',
      ],
    ],
    [
      'MessagesApi',
      [
        ...answer,
        ...ensureQueues,
        'dynamodb:BatchWriteItem messages',
        'dynamodb:GetItem messages',
        'dynamodb:PutItem messages',
        'dynamodb:Query messages',
        's3:GetObject bodies',
        's3:PutObject bodies',
        unschedule,
      ],
    ],
    [
      'Logs',
      [
        ...answer,
        'dynamodb:BatchGetItem messages',
        'dynamodb:Query messages',
        'dynamodb:Query messages/index/log',
      ],
    ],
    [
      'UrlGroups',
      [
        ...answer,
        'dynamodb:DeleteItem groups',
        'dynamodb:GetItem groups',
        'dynamodb:PutItem groups',
        'dynamodb:Query groups',
      ],
    ],
    ['QueuesApi', [...answer, ...changeLanes, ...listLanes]],
    ['FlowControl', [...answer, ...changeLanes, ...listLanes]],
    [
      'DlqApi',
      [
        ...answer,
        ...changeLanes,
        'dynamodb:BatchWriteItem messages',
        'dynamodb:GetItem dlq',
        'dynamodb:GetItem messages',
        'dynamodb:Query dlq',
        'dynamodb:Query messages',
        'dynamodb:GetItem workflows',
        'dynamodb:Query workflows',
        'dynamodb:UpdateItem dlq',
        's3:GetObject bodies',
        's3:PutObject bodies',
      ],
    ],
    [
      'Schedules',
      [
        ...answer,
        ...ensureQueues,
        ...changeRuns,
        unschedule,
        'dynamodb:BatchGetItem messages',
        'dynamodb:BatchWriteItem messages',
        'dynamodb:DeleteItem messages',
        'dynamodb:DeleteItem schedules',
        'dynamodb:GetItem groups',
        'dynamodb:GetItem messages',
        'dynamodb:GetItem schedules',
        'dynamodb:PutItem messages',
        'dynamodb:PutItem schedules',
        'dynamodb:Query messages',
        'dynamodb:Query schedules',
        'dynamodb:UpdateItem schedules',
        's3:DeleteObject bodies',
        's3:GetObject bodies',
        's3:PutObject bodies',
      ],
    ],
    [
      'Fire',
      [
        ...countUsage,
        ...ensureQueues,
        ...consume('fire'),
        ...changeRuns,
        'dynamodb:BatchGetItem messages',
        'dynamodb:Query messages',
        knowHosts,
        'sqs:SendMessage fire',
        'sqs:SendMessage undeliveredFires',
        unschedule,
        'dynamodb:BatchWriteItem messages',
        'dynamodb:DeleteItem messages',
        'dynamodb:GetItem accounts',
        'dynamodb:GetItem groups',
        'dynamodb:GetItem messages',
        'dynamodb:GetItem schedules',
        'dynamodb:PutItem schedules',
        'dynamodb:UpdateItem schedules',
        's3:DeleteObject bodies',
        's3:GetObject bodies',
        's3:ListBucket bodies',
        's3:PutObject bodies',
      ],
    ],
    [
      'Workflows',
      [
        ...answer,
        ...endRuns,
        'dynamodb:BatchGetItem workflows',
        ...changeLanes,
        unschedule,
        'dynamodb:BatchGetItem messages',
        'dynamodb:BatchWriteItem messages',
        'dynamodb:GetItem dlq',
        'dynamodb:GetItem messages',
        'dynamodb:PutItem messages',
        'dynamodb:Query dlq',
        'dynamodb:Query messages',
        'dynamodb:UpdateItem dlq',
        's3:GetObject bodies',
        's3:PutObject bodies',
      ],
    ],
    ['Description', []],
    ['Console', []],
    ['DeliverShort', [...perform, ...consume('short')]],
    ['DeliverLong', [...perform, ...consume('long')]],
    ['DeliverAlone', [...perform, ...consume('dead'), 'sqs:SendMessage dead']],
    ['Keys', [...answer, 'dynamodb:PutItem accounts']],
    ['Stats', [...answer, ...countOutcomes, 'dynamodb:GetItem dlq', 'dynamodb:GetItem lanes']],
    ['CountOutcomes', [...countOutcomes, 'dynamodb:Scan accounts']],
    [
      'FollowAccount',
      [
        ...changeLanes,
        ...consume('accountChanges'),
        'sqs:SendMessage accountChanges',
        unschedule,
        'dynamodb:DeleteItem groups',
        'dynamodb:DeleteItem lanes',
        nameLanes,
        'dynamodb:DeleteItem messages',
        'dynamodb:DeleteItem schedules',
        'dynamodb:GetItem accounts',
        'dynamodb:Query groups',
        'dynamodb:Query schedules',
        's3:DeleteObject bodies',
      ],
    ],
  ])('let %s do what it must, and nothing else', (name, permissions) => {
    expect(rightsOf(service, name)).toEqual(permissions.sort());
  });

  it('let the management API into the accounts of every region, and into little else', () => {
    const arn = (resource: unknown) =>
      joined.parse(resource).replace(/^arn:aws:(\w+):([\w-]+):111122223333:(table\/|secret:)?/, '$2 ');
    const inBoth = (permission: string, name: string) =>
      ['eu-central-1', 'us-east-1'].map((region) => `${permission} ${region} ${name}`);
    expect(rightsOf(synthesize().management, 'ManagementAuthorizer', arn)).toEqual([
      'dynamodb:GetItem eu-central-1 Svc-usage',
      'dynamodb:UpdateItem eu-central-1 Svc-usage',
      'secretsmanager:GetSecretValue eu-central-1 Svc/management-??????',
    ]);
    expect(rightsOf(synthesize().management, 'ManagementConsole', arn)).toEqual([]);
    expect(rightsOf(synthesize().management, 'Accounts', arn)).toEqual(
      [
        ...inBoth('dynamodb:GetItem', 'Svc-accounts'),
        ...inBoth('dynamodb:PutItem', 'Svc-accounts'),
        ...inBoth('dynamodb:Scan', 'Svc-accounts'),
        ...inBoth('dynamodb:Query', 'Svc-usage'),
        ...inBoth('sqs:SendMessage', 'Svc-account-changes'),
        'dynamodb:BatchGetItem eu-central-1 Svc-accounts',
        'dynamodb:UpdateItem eu-central-1 Svc-accounts',
        'dynamodb:GetItem eu-central-1 Svc-usage',
        'dynamodb:UpdateItem eu-central-1 Svc-usage',
        'secretsmanager:GetSecretValue eu-central-1 Svc/management-??????',
        'secretsmanager:GetSecretValue eu-central-1 Svc/master-??????',
      ].sort(),
    );
  });

  it('let no function of a region write accounts but the one that rotates keys, nor read the management password', () => {
    for (const { name } of messagingFunctions) {
      const permissions = rightsOf(service, name);
      const writes = permissions
        .filter((permission) => /^dynamodb:(Put|Update|Delete|BatchWrite)\w* accounts/.test(permission))
        .filter((permission) => permission !== noteHost);
      expect([name, writes]).toEqual([name, name === 'Keys' ? ['dynamodb:PutItem accounts'] : []]);
      expect(permissions.join()).not.toContain('management');
    }
  });

  it('let all that refuses destinations read the hosts of the APIs, and an API write its own, but no account', () => {
    const { regions, management: managing } = synthesize();
    const all = ['eu-central-1', 'us-east-1'].flatMap((region) =>
      ['messaging', 'management'].map((api) => `apiHost#${region}#${api}`),
    );
    const places: readonly [Template, string][] = [
      ...regions.map((one): [Template, string] => [one.service, `apiHost#${one.region}#messaging`]),
      [managing, 'apiHost#eu-central-1#management'],
    ];
    for (const [template, own] of places) {
      const found = statementsOf(template).filter(
        ({ Action, Resource }) =>
          /BatchGetItem|UpdateItem/.test(Action.join()) && JSON.stringify(Resource).includes('Svc-accounts'),
      );
      expect(found.length).toBeGreaterThan(0);
      for (const { Action, Condition } of found) {
        const [action, ...others] = Action;
        expect(others).toEqual([]);
        const keys = action === 'dynamodb:UpdateItem' ? [own] : all;
        expect(Condition).toEqual({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': keys } });
      }
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
