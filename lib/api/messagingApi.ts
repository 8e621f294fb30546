/** The messaging API of a region: a function for each family of routes. */
import type { Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { MessagingFunction } from '../../lambdas/http/routes.ts';
import { answerTimeout, connect, type MadeApi } from './api.ts';
import { type SharedProps, SvcFunction } from '../functions/function.ts';
import { makePublishUrl, type PublishUrl } from './publishUrl.ts';
import type { Rights } from '../functions/rights.ts';

interface MessagingApiProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
  readonly made: MadeApi;
}

/** The resources are directly in the stack, so that their logical ids are short and do not change. */
export class MessagingApi {
  readonly api: SpecRestApi;
  /** The URL of the domain, or the publish URL, without a slash at the end. */
  readonly url: string;
  readonly functions: Readonly<Record<MessagingFunction, SvcFunction>>;
  readonly publishUrl: PublishUrl | undefined;
  /** Without the host of the publish URL's function, which is made later. All other functions have it. */
  readonly shared: SharedProps;

  constructor(stack: Stack, { shared, rights, made }: MessagingApiProps) {
    this.api = made.api;
    const { settings } = shared;
    const may = rightsOfFunctions(rights);
    const publish = new SvcFunction(stack, 'Publish', {
      ...shared,
      handler: 'publish',
      description: 'Accepts messages: stores them, and sends their first attempts',
      timeout: answerTimeout,
      may: may.publish,
      reservedConcurrency: settings.publishConcurrency,
      ...(settings.publishUrl && { variables: { API_URL: made.generatedUrl } }),
    });
    // The URL is made after its function, so the function's variables cannot contain it. The function learns
    // its host: see docs/design.md, "No loops".
    this.publishUrl = settings.publishUrl ? makePublishUrl(publish) : undefined;
    this.url = made.url === made.generatedUrl ? (this.publishUrl?.url ?? made.url) : made.url;
    this.shared = this.publishUrl === undefined ? shared : withOwnHost(shared, this.publishUrl.host);
    const serve = (id: string, handler: MessagingFunction, description: string): SvcFunction =>
      new SvcFunction(stack, id, {
        ...this.shared,
        handler,
        description,
        timeout: answerTimeout,
        may: may[handler],
      });
    this.functions = {
      publish,
      messages: serve('MessagesApi', 'messages', 'Shows messages, cancels them and publishes them again'),
      logs: serve('Logs', 'logs', 'Shows the history of messages'),
      urlGroups: serve('UrlGroups', 'urlGroups', 'Keeps URL groups'),
      queues: serve('QueuesApi', 'queues', 'Keeps queues'),
      flowControl: serve('FlowControl', 'flowControl', 'Shows and changes flow-control keys'),
      dlq: serve('DlqApi', 'dlq', 'Shows, removes and retries dead letters'),
      schedules: serve('Schedules', 'schedules', 'Keeps schedules, and runs them by hand'),
      workflows: serve('Workflows', 'workflows', 'Shows, wakes, ends and resumes runs of workflows'),
      keys: serve('Keys', 'keys', 'Shows and rotates signing keys'),
      console: serve('Console', 'console', 'Serves the console, a web page'),
      alarms: serve('Alarms', 'alarms', 'Keeps the alarms of accounts, and tests them'),
      stats: serve('Stats', 'stats', 'Shows an account’s usage, and the outcomes of its messages'),
      description: serve('Description', 'description', 'Describes the service and its state'),
    };
    connect(this.api, this.functions);
  }
}

function withOwnHost(shared: SharedProps, host: string): SharedProps {
  const OWN_HOSTS = [shared.environment.OWN_HOSTS, host].join(',');
  return { ...shared, environment: { ...shared.environment, OWN_HOSTS } };
}

function rightsOfFunctions(rights: Rights): Readonly<Record<MessagingFunction, readonly PolicyStatement[]>> {
  const answer = rights.answerRequests();
  return {
    publish: [
      ...answer,
      rights.on('groups', 'GetItem'),
      ...rights.ensureQueues(),
      rights.on('deduplication', 'PutItem', 'UpdateItem', 'DeleteItem'),
      rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem'),
      rights.onBodies('GetObject', 'PutObject'),
      rights.changeRuns(),
    ],
    messages: [
      ...answer,
      rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'BatchWriteItem'),
      rights.queryIndex('messages', 'log'),
      rights.endPeriods(),
      rights.onBodies('GetObject', 'PutObject'),
      ...rights.ensureQueues(),
      // A waiting message is changed if it is still in its line.
      rights.readTenants(),
      rights.endSchedules(),
      rights.startBulk(),
      rights.on('usage', 'GetItem'),
    ],
    logs: [
      ...answer,
      rights.on('messages', 'Query', 'BatchGetItem'),
      rights.queryIndex('messages', 'log'),
      rights.onBodies('GetObject'),
    ],
    urlGroups: [
      ...answer,
      rights.on('groups', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      // To hold deliveries.
      rights.on('accounts', 'PutItem'),
      ...rights.changeLanes(),
    ],
    queues: [
      ...answer,
      ...rights.changeLanes(),
      ...rights.listLanes(),
      rights.readTenants(),
      // The delayed messages of a deleted queue are cancelled.
      rights.on('messages', 'Query', 'PutItem'),
      rights.endPeriods(),
      rights.endSchedules(),
    ],
    flowControl: [
      ...answer,
      // To hold deliveries.
      rights.on('accounts', 'PutItem'),
      ...rights.changeLanes(),
      ...rights.listLanes(),
      rights.readTenants(),
    ],
    dlq: [
      ...answer,
      rights.on('dlq', 'Query', 'GetItem', 'UpdateItem'),
      // Workflow clients also list the dead letters of runs here.
      rights.on('workflows', 'Query', 'GetItem'),
      rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'UpdateItem', 'BatchWriteItem'),
      rights.on('workflows', 'Query', 'GetItem'),
      rights.onBodies('GetObject', 'PutObject'),
      ...rights.changeLanes(),
      rights.startBulk(),
    ],
    schedules: [
      ...answer,
      rights.on('schedules', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'),
      rights.on('groups', 'GetItem'),
      ...rights.ensureQueues(),
      rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem', 'DeleteItem'),
      rights.onBodies('GetObject', 'PutObject', 'DeleteObject'),
      // A schedule that is run by hand may start a run of a workflow.
      rights.changeRuns(),
      rights.endSchedules(),
      // A resumed schedule may have missed fires.
      rights.send('fire'),
    ],
    workflows: [
      ...answer,
      rights.endPeriods(),
      rights.endRuns(),
      // All waits that one event ends are read together.
      rights.on('workflows', 'BatchGetItem'),
      rights.on('dlq', 'Query', 'GetItem', 'UpdateItem'),
      rights.on('messages', 'Query', 'GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem'),
      rights.onBodies('GetObject', 'PutObject'),
      ...rights.changeLanes(),
      rights.endSchedules(),
      rights.startBulk(),
    ],
    // For named tokens.
    keys: [...answer, rights.on('accounts', 'PutItem'), rights.removeTokens()],
    alarms: [
      ...answer,
      rights.on('usage', 'GetItem', 'PutItem', 'DeleteItem'),
      // A test message is accepted like a schedule that is run by hand.
      ...rights.ensureQueues(),
      rights.on('messages', 'PutItem', 'BatchWriteItem'),
      rights.onBodies('PutObject'),
    ],
    stats: [
      ...answer,
      ...rights.countOutcomes(),
      rights.on('lanes', 'GetItem'),
      rights.readTenants(),
      ...rights.findAttention(),
      rights.on('groups', 'Query'),
    ],
    description: [],
    console: [],
  };
}
