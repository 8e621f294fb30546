import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { joined, properties, resources, synthesizeOne } from './app.ts';
import { functionShape, functionsOf, nameOf } from './roles.ts';
import { type Context, elsewhere, tuned } from './variants.ts';

const { service, management } = synthesizeOne();

const messagingFunctions = functionsOf(service);
const functions = [...messagingFunctions, ...functionsOf(management)];

/** The reserved concurrency of each function, by name. */
function reservations(context: Context): Record<string, number> {
  const shape = functionShape.extend({ ReservedConcurrentExecutions: z.number().optional() });
  const one = synthesizeOne(context);
  return Object.fromEntries(
    [one.service, one.management]
      .flatMap((template) => properties(template, 'AWS::Lambda::Function', shape))
      .flatMap(({ Environment, ReservedConcurrentExecutions: reserved }) =>
        reserved === undefined ? [] : [[nameOf(Environment.Variables), reserved]],
      ),
  );
}

describe('executions at once', () => {
  it('are reserved for no function by default: an AWS account may have ten, of which Lambda lets none be reserved', () => {
    expect(reservations({})).toEqual({});
  });

  it('are reserved only for publishing, if the settings say so', () => {
    expect(reservations(tuned)).toEqual({ Publish: 350 });
  });
});

/** The functions that queues invoke. */
const behindQueues = ['DeliverShort', 'DeliverLong', 'DeliverSlow', 'DeliverAlone', 'Fire', 'FollowAccount'];

describe('the functions', () => {
  it('are these', () => {
    expect(functions.map(({ name, Code }) => `${name} ${Code.ZipFile}`).sort()).toEqual([
      'Accounts // accounts',
      'Alarms // alarms',
      'Console // console',
      'CountOutcomes // countOutcomes',
      'DeliverAlone // deliverAlone',
      'DeliverLong // deliver',
      'DeliverShort // deliver',
      'DeliverSlow // deliver',
      'Description // description',
      'DlqApi // dlq',
      'Fire // fire',
      'FlowControl // flowControl',
      'FollowAccount // followAccount',
      'Keys // keys',
      'Logs // logs',
      'LookForAlarms // lookForAlarms',
      'ManagementAuthorizer // managementAuthorizer',
      'ManagementConsole // console',
      'MessagesApi // messages',
      'Publish // publish',
      'QueuesApi // queues',
      'Redrive // redrive',
      'Schedules // schedules',
      'Stats // stats',
      'UrlGroups // urlGroups',
      'Workflows // workflows',
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

  it('answer before the gateway’s timeout of 29 s', () => {
    const byTheClock = ['CountOutcomes', 'LookForAlarms', 'Redrive'];
    for (const { name, Timeout } of functions) {
      if (![...behindQueues, ...byTheClock].includes(name)) expect([name, Timeout]).toEqual([name, 28]);
    }
  });

  it('may continue in a chain through the queues, where Lambda would end a loop after 16 rounds', () => {
    for (const { name, RecursiveLoop } of functions) {
      const inAChain = behindQueues.includes(name);
      expect([name, RecursiveLoop]).toEqual([name, inAChain ? 'Allow' : 'Terminate']);
    }
  });

  it('have every variable that their settings require', () => {
    for (const { Environment, name } of functions) {
      expect(Object.keys(Environment.Variables).sort(), name).toEqual([
        'ACCOUNTS_TABLE',
        'ACCOUNT_CHANGES_QUEUES',
        'ALLOWED_DESTINATIONS',
        ...(name.startsWith('Deliver') || name === 'Publish' ? ['API_URL'] : []),
        'BODIES_BUCKET',
        ...(name === 'ManagementConsole' ? ['CONSOLE_APIS'] : []),
        'DEAD_QUEUE_ARN',
        'DEAD_QUEUE_URL',
        'DEDUPLICATION_TABLE',
        'DESTINATIONS',
        'DLQ_TABLE',
        'FIRE_QUEUE_ARN',
        'FIRE_QUEUE_URL',
        'GROUPS_TABLE',
        'HEADER_PREFIXES',
        'LAMBDA_DESTINATIONS',
        'LANES_TABLE',
        'LONG_QUEUE_ARN',
        'LONG_QUEUE_URL',
        'MANAGEMENT_SECRET_ID',
        'MASTER_SECRET_ID',
        'MESSAGES_TABLE',
        'OWN_HOSTS',
        'PARKED_QUEUE_URL',
        'POWERTOOLS_LOG_LEVEL',
        'POWERTOOLS_METRICS_NAMESPACE',
        'POWERTOOLS_SERVICE_NAME',
        'PRICE_PER_MESSAGE',
        'RELEASE',
        'SCHEDULER_DLQ_ARN',
        'SCHEDULER_ROLE_ARN',
        'SCHEDULES_TABLE',
        'SCHEDULE_GROUP',
        'SHORT_QUEUE_ARN',
        'SHORT_QUEUE_URL',
        'SLOW_QUEUE_URL',
        'TEMPLATE_HASH',
        'UNDELIVERED_FIRES_QUEUE_URL',
        'USAGE_TABLE',
        'WORKFLOWS_TABLE',
      ]);
    }
  });

  it('know the price of a message and the name of their metrics', () => {
    for (const [context, Variables] of [
      [tuned, { PRICE_PER_MESSAGE: '0.25' }],
      [elsewhere, { POWERTOOLS_METRICS_NAMESPACE: 'Queue' }],
    ] as const) {
      const made = synthesizeOne(context);
      for (const template of [made.service, made.management])
        template.allResourcesProperties('AWS::Lambda::Function', { Environment: { Variables } });
    }
    expect(functions[0]?.Environment.Variables).toMatchObject({
      PRICE_PER_MESSAGE: '0.00001',
      POWERTOOLS_METRICS_NAMESPACE: 'Svc',
    });
  });

  it('know the hosts of their API, generated and custom, so that no message runs in circles', () => {
    const configured = synthesizeOne({ ...tuned, publishUrl: 'false' });
    const [api] = resources(configured.service, 'AWS::ApiGateway::RestApi').keys();
    const found = functionsOf(configured.service);
    expect(found.length).toBe(messagingFunctions.length);
    for (const { Environment } of found) {
      expect(joined.parse(Environment.Variables['OWN_HOSTS'])).toBe(
        `${api ?? ''}.execute-api.eu-central-1.amazonaws.com,queue.example.com`,
      );
    }
    // The management API's functions get no host of another stack.
    for (const { Environment } of functionsOf(configured.management)) {
      expect(Environment.Variables['OWN_HOSTS']).toBe('queue.example.com');
    }
  });
});

describe('the logs', () => {
  it('are one for each function and each API, in JSON, without Lambda’s own lines', () => {
    const groups = functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup);
    expect(new Set(groups).size).toBe(functions.length);
    service.resourceCountIs('AWS::Logs::LogGroup', messagingFunctions.length + 1);
    management.resourceCountIs('AWS::Logs::LogGroup', 3 + 1);
    for (const { LoggingConfig } of functions) {
      expect(LoggingConfig).toMatchObject({
        LogFormat: 'JSON',
        ApplicationLogLevel: 'INFO',
        SystemLogLevel: 'WARN',
      });
    }
  });

  it('end after the days in the settings', () => {
    const short = synthesizeOne(tuned);
    for (const template of [short.service, short.management]) {
      for (const { Properties } of resources(template, 'AWS::Logs::LogGroup').values()) {
        expect(Properties).toMatchObject({ RetentionInDays: 7 });
      }
      template.allResourcesProperties('AWS::Lambda::Function', {
        LoggingConfig: { ApplicationLogLevel: 'DEBUG' },
        Environment: { Variables: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } },
      });
    }
  });
});
