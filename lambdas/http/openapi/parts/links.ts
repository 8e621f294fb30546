/** Links from an operation to others that take the ids in its answer. */

type Expression = `$${string}`;

export interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, Expression>>;
}

interface About {
  readonly parameter: string;
  readonly operations: readonly string[];
  readonly others?: Link['parameters'];
}

const about = {
  message: { parameter: 'messageId', operations: ['getMessage', 'cancelMessage', 'publishMessageAgain'] },
  deadLetter: { parameter: 'dlqId', operations: ['getDeadLetter', 'retryDeadLetter', 'deleteDeadLetter'] },
  urlGroup: {
    parameter: 'name',
    operations: [
      ...['getUrlGroup', 'setUrlGroupDefaults', 'addEndpoints', 'removeEndpoints', 'deleteUrlGroup'],
      ...['rotateEndpointSignatures', 'endSignatureOverlap'],
    ],
  },
  queue: { parameter: 'name', operations: ['getQueue', 'pauseQueue', 'resumeQueue', 'deleteQueue'] },
  flowControlKey: {
    parameter: 'key',
    operations: [
      ...['getFlowControl', 'pauseFlowControl', 'resumeFlowControl'],
      ...['pinFlowControl', 'unpinFlowControl', 'resetFlowControlRate'],
    ],
  },
  circuit: { parameter: 'host', operations: ['closeCircuit', 'holdHost'] },
  hold: { parameter: 'host', operations: ['releaseHost'] },
  schedule: {
    parameter: 'schedule',
    operations: [
      ...['getSchedule', 'changeSchedule', 'runSchedule', 'deleteSchedule'],
      ...['pauseSchedule', 'pauseScheduleByPatch', 'resumeSchedule', 'resumeScheduleByPatch'],
    ],
  },
  run: { parameter: 'runId', operations: ['getRunEntries', 'endRun'] },
  failedRun: {
    parameter: 'dlqId',
    operations: [
      ...['getRunDeadLetter', 'resumeRun', 'restartRun', 'deleteRunDeadLetter'],
      ...['rerunFailureFunction', 'cancelFailureFunction'],
    ],
  },
  event: { parameter: 'eventId', operations: ['listWaiters'] },
  account: {
    parameter: 'id',
    operations: [
      'getAccount',
      'updateAccount',
      'rotateTokens',
      'getAccountStats',
      'deleteAccount',
      'restoreAccount',
    ],
    others: { brand: '$request.path.brand' },
  },
} as const satisfies Readonly<Record<string, About>>;

type Leads = readonly (readonly [to: keyof typeof about, named: Expression])[];

const inBody = (pointer: string): Expression => `$response.body#${pointer}`;

const message: Leads = [['message', inBody('/messageId')]];
const schedule: Leads = [['schedule', inBody('/scheduleId')]];
const run: Leads = [['run', inBody('/workflowRunId')]];
const account: Leads = [['account', inBody('/id')]];

/**
 * For each operation, where its answers lead, and which value in the answer or the request names the thing.
 */
const leads: ReadonlyMap<string, Leads> = new Map([
  ['publishMessage', message],
  [
    'enqueueMessage',
    [
      ['queue', '$request.path.queueName'],
      ['message', inBody('/messageId')],
    ],
  ],
  ['publishBatch', [['message', inBody('/0/messageId')]]],
  ['publishMessageAgain', message],
  ['listMessages', [['message', inBody('/messages/0/messageId')]]],
  ['listLogs', [['message', inBody('/logs/0/messageId')]]],
  ['listUrlGroups', [['urlGroup', inBody('/0/name')]]],
  ['addEndpoints', [['urlGroup', '$request.path.name']]],
  ['putQueue', [['queue', '$request.body#/queueName']]],
  ['listQueues', [['queue', inBody('/0/name')]]],
  ['listFlowControl', [['flowControlKey', inBody('/0/flowControlKey')]]],
  ['listCircuits', [['circuit', inBody('/0/host')]]],
  ['listHolds', [['hold', inBody('/0/name')]]],
  ['holdHost', [['hold', '$request.path.host']]],
  ['createSchedule', schedule],
  ['changeSchedule', schedule],
  ['listSchedules', [['schedule', inBody('/0/scheduleId')]]],
  ['runSchedule', message],
  ['listDeadLetters', [['deadLetter', inBody('/messages/0/dlqId')]]],
  ['retryDeadLetter', message],
  ['retryDeadLetters', [['message', inBody('/responses/0/messageId')]]],
  ['triggerRun', run],
  ['triggerRuns', [['run', inBody('/0/workflowRunId')]]],
  ['listRuns', [['run', inBody('/runs/0/workflowRunId')]]],
  ['listRunDeadLetters', [['failedRun', inBody('/messages/0/dlqId')]]],
  ['resumeRun', run],
  ['restartRun', run],
  ['waitForEvent', [['event', '$request.path.eventId']]],
  ['createAccount', account],
  ['listAccounts', [['account', inBody('/0/id')]]],
]);

/**
 * Lists whose last page has no cursor. Lists of runs end with an empty cursor, which a link cannot exclude,
 * so they are missing here.
 */
const paged: ReadonlySet<string> = new Set([
  ...['listMessages', 'listLogs', 'listEvents', 'listDeadLetters', 'listRunDeadLetters'],
  'listRunsAsEvents',
]);

export function linksOf(operationId: string): Readonly<Record<string, Link>> {
  const links: Record<string, Link> = {};
  for (const [to, named] of leads.get(operationId) ?? []) {
    const { parameter, operations, others }: About = about[to];
    for (const one of operations) {
      links[one] = { operationId: one, parameters: { ...others, [parameter]: named } };
    }
  }
  if (paged.has(operationId)) {
    links[operationId] = { operationId, parameters: { cursor: inBody('/cursor') } };
  }
  return links;
}
