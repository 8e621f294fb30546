/** What can be made again at any time: the API, the queues, the functions, and who may touch what. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type MessagingFunction, routes } from '../lambdas/http/routes.ts';
import { tables } from '../lambdas/resources.ts';
import { answering, makeApi, makeGatewayLogRole } from './api.ts';
import { allow, type CodeOf, SvcFunction } from './function.ts';
import { namesOf, queueUrls, secretArn, tableArn } from './names.ts';
import { type QueueName, Queues, timing } from './queues.ts';
import { Scheduling } from './scheduling.ts';
import type { Settings } from './settings.ts';
import type { StateStack } from './stateStack.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly codeOf: CodeOf;
}

export class ServiceStack extends Stack {
  /** What every function knows, the management API's included. */
  readonly functionEnvironment: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { settings, state, codeOf } = props;
    const names = namesOf(settings);
    const queues = new Queues(this, 'Queues', settings);
    const scheduling = new Scheduling(this, 'Scheduling', {
      groupName: settings.scheduleGroup ?? settings.name,
      queues,
    });
    // What more than this region knows has a fixed name: no export of another stack stands for it.
    const known = (tableName: string) => ({ tableName, tableArn: tableArn(this, tableName) });
    const stores = {
      messages: state.messages,
      dlq: state.dlq,
      groups: state.groups,
      queues: state.queues,
      schedules: state.schedules,
      deduplication: state.deduplication,
      accounts: known(names.accountsTable),
      usage: known(names.usageTable),
    } satisfies Record<keyof typeof tables, unknown>;
    type Store = keyof typeof stores;

    const environment = {
      ...Object.fromEntries(
        (Object.keys(stores) as Store[]).map((name) => [tables[name].variable, stores[name].tableName]),
      ),
      BODIES_BUCKET: state.bodies.bucketName,
      SHORT_QUEUE_URL: queues.short.queueUrl,
      LONG_QUEUE_URL: queues.long.queueUrl,
      SHORT_QUEUE_ARN: queues.short.queueArn,
      LONG_QUEUE_ARN: queues.long.queueArn,
      DEAD_QUEUE_ARN: queues.dead.queueArn,
      FIRE_QUEUE_ARN: queues.fire.queueArn,
      SCHEDULER_DLQ_ARN: queues.undeliveredFires.queueArn,
      SCHEDULER_ROLE_ARN: scheduling.role.roleArn,
      SCHEDULE_GROUP: scheduling.groupName,
      MASTER_SECRET_ID: names.masterSecret,
      MANAGEMENT_SECRET_ID: names.managementSecret,
      ACCOUNT_CHANGES_QUEUES: this.toJsonString(queueUrls(this, names.accountChangesQueue, settings.regions)),
      PRICE_PER_MESSAGE: settings.pricePerMessage.toString(),
      HEADER_PREFIXES: settings.headerPrefixes.join(','),
      ALLOWED_DESTINATIONS: settings.allowedDestinations.join(','),
      OWN_HOSTS: settings.ownHosts.join(','),
    };
    this.functionEnvironment = environment;
    const shared = { environment, settings, codeOf };

    const on = (name: Store, ...actions: string[]) =>
      allow(
        actions.map((action) => `dynamodb:${action}`),
        stores[name].tableArn,
      );
    // AWS judges a batch as SendMessage; the second name, which it does not know, is what its emulators ask for.
    const send = allow(
      ['sqs:SendMessage', 'sqs:SendMessageBatch'],
      queues.short.queueArn,
      queues.long.queueArn,
    );
    const sendPointers = [send, ...scheduling.mayUse('CreateSchedule')];
    const onBodies = (...actions: string[]) =>
      allow(
        actions.map((action) => `s3:${action}`),
        state.bodies.arnForObjects('*'),
      );
    const countUsage = on('usage', 'UpdateItem', 'Query');
    const authenticate = [
      allow(['secretsmanager:GetSecretValue'], secretArn(this, names.masterSecret)),
      on('accounts', 'GetItem'),
      countUsage,
    ];

    // A note that the line of what waits for room will be looked at.
    const askForLook = [
      on('usage', 'GetItem', 'PutItem'),
      allow(['sqs:SendMessage'], queues.accountChanges.queueArn),
    ];
    const ensureQueues = on('queues', 'Query', 'GetItem', 'PutItem');

    const serving = (id: string, handler: MessagingFunction, description: string, may: PolicyStatement[]) =>
      new SvcFunction(this, id, { ...shared, ...answering, handler, description, may });
    const functions: Record<MessagingFunction, SvcFunction> = {
      publish: serving('Publish', 'publish', 'Accepts messages: their rows and their pointers', [
        ...authenticate,
        on('groups', 'GetItem'),
        ensureQueues,
        on('deduplication', 'PutItem', 'UpdateItem', 'DeleteItem'),
        on('messages', 'Query', 'PutItem', 'BatchWriteItem'),
        onBodies('PutObject'),
        ...sendPointers,
      ]),
      messages: serving('MessagesApi', 'messages', 'Shows and cancels messages that wait', [
        ...authenticate,
        on('messages', 'Query', 'GetItem', 'PutItem'),
        onBodies('GetObject'),
        ...scheduling.mayUse('DeleteSchedule'),
      ]),
      logs: serving('Logs', 'logs', 'Shows what became of messages', [
        ...authenticate,
        on('messages', 'Query'),
        allow(['dynamodb:Query'], `${state.messages.tableArn}/index/log`),
      ]),
      topics: serving('Topics', 'topics', 'Keeps URL groups', [
        ...authenticate,
        on('groups', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      ]),
      queues: serving('QueuesApi', 'queues', 'Keeps queues', [
        ...authenticate,
        on('queues', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      ]),
      dlq: serving('DlqApi', 'dlq', 'Shows, removes and retries dead letters', [
        ...authenticate,
        on('dlq', 'Query', 'GetItem', 'UpdateItem'),
        on('messages', 'Query', 'GetItem', 'BatchWriteItem'),
        onBodies('GetObject', 'PutObject'),
        ...sendPointers,
      ]),
      schedules: serving('Schedules', 'schedules', 'Keeps schedules', [
        ...authenticate,
        on('schedules', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
        on('groups', 'GetItem'),
        ensureQueues,
        on('messages', 'Query', 'GetItem', 'BatchWriteItem', 'DeleteItem'),
        onBodies('GetObject', 'PutObject', 'DeleteObject'),
        ...scheduling.mayUse('CreateSchedule', 'DeleteSchedule'),
      ]),
      keys: serving('Keys', 'keys', 'Shows and rotates signing keys', [
        ...authenticate,
        on('accounts', 'PutItem'),
      ]),
      description: serving('Description', 'description', 'Says how the service is and what it offers', []),
    };
    const { api, host, url } = makeApi(this, {
      name: settings.name,
      routes,
      functions,
      throttle: { rate: settings.throttleRate, burst: settings.throttleBurst },
      settings,
    });
    if (settings.gatewayLogRole) api.deploymentStage.node.addDependency(makeGatewayLogRole(this));

    // Deliveries back into the API would go round for ever. (Publish learns the API's host from each request.)
    const delivering = {
      ...shared,
      mayInvokeItself: true,
      environment: { ...environment, OWN_HOSTS: [host, ...settings.ownHosts].join(',') },
      may: [
        ...authenticate,
        on('messages', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'),
        on('dlq', 'Query', 'PutItem', 'UpdateItem'),
        // Slots for what is in flight.
        on('usage', 'PutItem', 'DeleteItem'),
        ...askForLook,
        onBodies('GetObject', 'PutObject'),
        ...sendPointers,
      ],
    };
    const deliverShort = new SvcFunction(this, 'DeliverShort', {
      ...delivering,
      handler: 'deliver',
      description: 'Attempts deliveries that may take up to 30 s',
      memorySize: 512,
      timeout: timing.short.timeout,
    });
    const deliverLong = new SvcFunction(this, 'DeliverLong', {
      ...delivering,
      handler: 'deliver',
      description: 'Attempts deliveries that may take up to 14 minutes',
      memorySize: 512,
      timeout: timing.long.timeout,
    });
    const abandon = new SvcFunction(this, 'Abandon', {
      ...delivering,
      handler: 'abandon',
      description: 'Fails messages whose delivery never came to an end',
      memorySize: 256,
      timeout: timing.dead.timeout,
    });
    const fire = new SvcFunction(this, 'Fire', {
      ...shared,
      environment: delivering.environment,
      handler: 'fire',
      description: 'Publishes what a schedule says when it fires',
      memorySize: 512,
      timeout: timing.fire.timeout,
      may: [
        on('accounts', 'GetItem'),
        countUsage,
        on('schedules', 'GetItem', 'PutItem', 'UpdateItem'),
        on('groups', 'GetItem'),
        ensureQueues,
        on('messages', 'GetItem', 'BatchWriteItem'),
        onBodies('GetObject', 'PutObject'),
        send,
        ...scheduling.mayUse('CreateSchedule', 'DeleteSchedule'),
      ],
    });
    const accountChange = new SvcFunction(this, 'AccountChange', {
      ...shared,
      mayInvokeItself: true,
      handler: 'accountChange',
      description: 'Brings a region in line with an account that was changed',
      memorySize: 512,
      timeout: timing.accountChanges.timeout,
      may: [
        on('accounts', 'GetItem'),
        on('usage', 'Query'),
        on('messages', 'Query', 'GetItem', 'UpdateItem', 'DeleteItem'),
        on('schedules', 'Query', 'GetItem', 'DeleteItem'),
        on('groups', 'Query', 'GetItem', 'DeleteItem'),
        on('queues', 'Query', 'DeleteItem'),
        onBodies('DeleteObject'),
        send,
        ...scheduling.mayUse('CreateSchedule', 'DeleteSchedule'),
        ...askForLook,
      ],
    });
    this.consume(queues, 'fire', fire);
    this.consume(queues, 'short', deliverShort, settings.deliveryConcurrency);
    this.consume(queues, 'long', deliverLong, settings.deliveryConcurrency);
    this.consume(queues, 'dead', abandon);
    this.consume(queues, 'accountChanges', accountChange);

    new CfnOutput(this, 'Url', { value: url, description: 'The base URL of the API: SVC_URL' });
  }

  private consume(queues: Queues, name: QueueName, worker: SvcFunction, maxConcurrency?: number): void {
    const queue = queues[name];
    worker.addToRolePolicy(
      allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queue.queueArn),
    );
    new EventSourceMapping(this, `${worker.node.id}Source`, {
      target: worker,
      eventSourceArn: queue.queueArn,
      batchSize: 10,
      // A message that is not done comes again; the rest of its batch does not.
      reportBatchItemFailures: true,
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    });
  }
}
