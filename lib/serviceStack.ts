/** What can be made again at any time: the API, the queues, the functions, and who may touch what. */
import { ArnFormat, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { ApiFunction } from '../lambdas/http/routes.ts';
import { tables } from '../lambdas/resources.ts';
import { makeApi, stageName } from './api.ts';
import { allow, type CodeOf, SvcFunction } from './function.ts';
import { type QueueName, Queues, timing } from './queues.ts';
import { Scheduling } from './scheduling.ts';
import type { Settings } from './settings.ts';
import type { StateStack } from './stateStack.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly codeOf: CodeOf;
}

const tableNames = [
  'messages',
  'dlq',
  'accounts',
  'groups',
  'deduplication',
  'schedules',
] as const satisfies (keyof typeof tables)[];

export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, props);
    const { settings, state, codeOf } = props;
    const queues = new Queues(this, 'Queues');
    const scheduling = new Scheduling(this, 'Scheduling', {
      groupName: settings.scheduleGroup ?? settings.name,
      queues,
    });

    const environment = {
      ...Object.fromEntries(tableNames.map((name) => [tables[name].variable, state[name].tableName])),
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
      MASTER_SECRET_ID: state.masterSecretName,
      HEADER_PREFIXES: settings.headerPrefixes.join(','),
      ALLOWED_DESTINATIONS: settings.allowedDestinations.join(','),
      OWN_HOSTS: settings.ownHosts.join(','),
    };
    const shared = { environment, settings, codeOf };

    const readMasterSecret = allow(
      ['secretsmanager:GetSecretValue'],
      this.formatArn({
        service: 'secretsmanager',
        resource: 'secret',
        // Secrets Manager puts six characters of its own behind the name.
        resourceName: `${state.masterSecretName}-??????`,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    );
    const on = (name: (typeof tableNames)[number], ...actions: string[]) =>
      allow(
        actions.map((action) => `dynamodb:${action}`),
        state[name].tableArn,
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
    const authenticate = [readMasterSecret, on('accounts', 'GetItem')];

    const answering = (id: string, handler: ApiFunction, description: string, may: PolicyStatement[]) =>
      new SvcFunction(this, id, {
        ...shared,
        handler,
        description,
        memorySize: 512,
        // Ends before the gateway gives up, which is after 29 s.
        timeout: Duration.seconds(28),
        may,
      });
    const functions: Record<ApiFunction, SvcFunction> = {
      publish: answering('Publish', 'publish', 'Accepts messages: their rows and their pointers', [
        ...authenticate,
        on('groups', 'GetItem'),
        on('deduplication', 'PutItem', 'UpdateItem', 'DeleteItem'),
        on('messages', 'Query', 'PutItem', 'BatchWriteItem'),
        onBodies('PutObject'),
        ...sendPointers,
      ]),
      messages: answering('MessagesApi', 'messages', 'Shows and cancels messages that wait', [
        ...authenticate,
        on('messages', 'Query', 'GetItem', 'PutItem'),
        onBodies('GetObject'),
        ...scheduling.mayUse('DeleteSchedule'),
      ]),
      logs: answering('Logs', 'logs', 'Shows what became of messages', [
        ...authenticate,
        on('messages', 'Query'),
        allow(['dynamodb:Query'], `${state.messages.tableArn}/index/log`),
      ]),
      topics: answering('Topics', 'topics', 'Keeps URL groups', [
        ...authenticate,
        on('groups', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      ]),
      dlq: answering('DlqApi', 'dlq', 'Shows, removes and retries dead letters', [
        ...authenticate,
        on('dlq', 'Query', 'GetItem', 'UpdateItem'),
        on('messages', 'Query', 'GetItem', 'BatchWriteItem'),
        onBodies('GetObject', 'PutObject'),
        ...sendPointers,
      ]),
      schedules: answering('Schedules', 'schedules', 'Keeps schedules', [
        ...authenticate,
        on('schedules', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
        on('groups', 'GetItem'),
        on('messages', 'Query', 'GetItem', 'BatchWriteItem', 'DeleteItem'),
        onBodies('GetObject', 'PutObject', 'DeleteObject'),
        ...scheduling.mayUse('CreateSchedule', 'DeleteSchedule'),
      ]),
      description: answering('Description', 'description', 'Says how the service is and what it offers', []),
    };
    const api = makeApi(this, { functions, settings });

    // Deliveries back into the API would go round for ever. (Publish learns the API's host from each request.)
    const host = `${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`;
    const delivering = {
      ...shared,
      mayInvokeItself: true,
      environment: { ...environment, OWN_HOSTS: [host, ...settings.ownHosts].join(',') },
      may: [
        ...authenticate,
        on('messages', 'Query', 'GetItem', 'PutItem', 'BatchWriteItem'),
        on('dlq', 'Query', 'PutItem', 'UpdateItem'),
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
        on('schedules', 'GetItem', 'PutItem', 'UpdateItem'),
        on('groups', 'GetItem'),
        on('messages', 'GetItem', 'BatchWriteItem'),
        onBodies('GetObject', 'PutObject'),
        send,
        ...scheduling.mayUse('CreateSchedule', 'DeleteSchedule'),
      ],
    });
    this.consume(queues, 'fire', fire);
    this.consume(queues, 'short', deliverShort, settings.deliveryConcurrency);
    this.consume(queues, 'long', deliverLong, settings.deliveryConcurrency);
    this.consume(queues, 'dead', abandon);

    const createAccount = new SvcFunction(this, 'CreateAccount', {
      ...shared,
      handler: 'createAccount',
      description: 'Makes an account and shows its tokens and keys; invoked by hand',
      memorySize: 256,
      timeout: Duration.seconds(30),
      may: [readMasterSecret, on('accounts', 'GetItem', 'PutItem')],
    });

    api.node.tryRemoveChild('Endpoint'); // The CDK's own output: the same, but with a slash at its end.
    new CfnOutput(this, 'Url', {
      value: `https://${host}/${stageName}`,
      description: 'The base URL of the API: SVC_URL',
    });
    new CfnOutput(this, 'CreateAccountFunction', {
      value: createAccount.functionName,
      description: 'Invoke it to make an account',
    });
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
