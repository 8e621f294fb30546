import * as z from 'zod/mini';
import { alarmSettings } from '../../../alarm/shape.ts';
import {
  changedAccountInput,
  newAccountInput,
  newOwnTokenInput,
  rotatedTokenInput,
  newTokenInput,
} from '../../../management/accountShapes.ts';
import * as accountAnswers from '../../../wire/accountAnswers.ts';
import * as alarms from '../../../wire/alarms.ts';
import * as bulks from '../../../wire/bulkAnswers.ts';
import { explainedCron, nextFires, scheduleFires } from '../../../wire/cronAnswers.ts';
import * as answers from '../../../wire/answers.ts';
import * as laneAnswers from '../../../wire/laneAnswers.ts';
import * as errors from '../../../wire/errorAnswers.ts';
import * as statsAnswers from '../../../wire/statsAnswers.ts';
import * as holdAnswers from '../../../wire/holdAnswers.ts';
import { holdSettings } from '../../../wire/holds.ts';
import { idBodies } from '../../../wire/idBodies.ts';
import { batchItem, longestBatch } from '../../../wire/batchItem.ts';
import {
  addedEndpoints,
  completion,
  messageChange,
  groupDefaults,
  queueSettings,
  removedEndpoints,
  rotatedSignatures,
  endedOverlaps,
  scheduleChange,
  triggerItem,
} from '../../../wire/requests.ts';
import { extension, pulling } from '../../../wire/pull.ts';
import * as pulls from '../../../wire/pullAnswers.ts';
import * as groups from '../../../wire/urlGroupAnswers.ts';
import { cancelBody } from '../../../wire/workflowFilters.ts';
import * as workflows from '../../../wire/workflowAnswers.ts';
import { waitShape } from '../../../workflow/requestedWait.ts';

const shapes = {
  Error: errors.error,
  Published: answers.published,
  PublishedToEndpoint: answers.publishedToEndpoint,
  PublishAnswer: answers.publishAnswer,
  BatchItem: batchItem,
  BatchRequest: z.array(batchItem).check(z.maxLength(longestBatch)),
  ItemError: errors.itemError,
  BatchAnswer: errors.batchAnswer,
  Message: answers.message,
  ListedMessage: answers.listedMessage,
  MessagePage: answers.messagePage,
  MessageInAnyState: answers.messageInAnyState,
  MessageAnswer: answers.messageAnswer,
  MessageIds: idBodies.messages,
  MessageChange: messageChange,
  MessageChanged: answers.changedMessage,
  Completion: completion,
  Completed: answers.completed,
  Pulling: pulling,
  Pulled: pulls.pulled,
  Extension: extension,
  Extended: pulls.extended,
  Cancelled: answers.cancelled,
  Counted: answers.counted,
  StartedBulk: bulks.startedBulk,
  Bulk: bulks.bulk,
  Bulks: bulks.bulks,
  CountedMessages: statsAnswers.countedMessages,
  LogEntry: answers.logEntry,
  LogPage: answers.logPage,
  Event: answers.event,
  EventPage: answers.eventPage,
  UrlGroup: groups.urlGroup,
  UrlGroups: groups.urlGroups,
  AddedEndpoints: addedEndpoints,
  RemovedEndpoints: removedEndpoints,
  EndpointsAdded: groups.endpointsAdded,
  RotatedSignatures: rotatedSignatures,
  EndedOverlaps: endedOverlaps,
  EndpointSecrets: groups.endpointSecrets,
  GroupDefaults: groupDefaults,
  QueueSettings: queueSettings,
  Queue: laneAnswers.queue,
  Queues: laneAnswers.queues,
  FlowControl: laneAnswers.flowControl,
  FlowControls: laneAnswers.flowControls,
  Circuit: answers.circuit,
  Circuits: laneAnswers.circuits,
  HoldSettings: holdSettings,
  Hold: holdAnswers.hold,
  Holds: holdAnswers.holds,
  GlobalParallelism: laneAnswers.globalParallelism,
  ListedDeadLetter: answers.listedDeadLetter,
  DeadLetter: answers.deadLetter,
  DeadLetterPage: answers.deadLetterPage,
  DeadLetterGroup: statsAnswers.deadLetterGroup,
  DeadLetterCount: statsAnswers.deadLetterCount,
  DlqIds: idBodies.dlq,
  Deleted: answers.deleted,
  Retried: answers.messageIdAnswer,
  RetriedPage: answers.retriedPage,
  Schedule: answers.schedule,
  Schedules: answers.schedules,
  ScheduleFires: scheduleFires,
  NextFires: nextFires,
  Scheduled: answers.scheduled,
  ScheduleChange: scheduleChange,
  ExplainedCron: explainedCron,
  TriggerItem: triggerItem,
  TriggerRequest: z.array(triggerItem).check(z.maxLength(longestBatch)),
  StartedRun: workflows.startedRun,
  StartedRuns: workflows.startedRuns,
  RunEntries: workflows.runEntries,
  RunsToCancel: cancelBody,
  CancelledRuns: workflows.cancelledRuns,
  WorkflowRun: workflows.workflowRun,
  StepGroup: workflows.stepGroup,
  RunStep: workflows.runStep,
  NextStep: workflows.nextStep,
  FailureFunction: workflows.failureFunction,
  RunPage: workflows.runPage,
  Wait: waitShape,
  Waiter: workflows.waiter,
  Waiters: workflows.waiters,
  Notification: workflows.notification,
  Notified: workflows.notified,
  ListedRunDeadLetter: workflows.listedRunDeadLetter,
  RunDeadLetter: workflows.runDeadLetter,
  RunDeadLetterPage: workflows.runDeadLetterPage,
  AnewRun: workflows.rerunAnswer,
  AnewRuns: workflows.rerunAnswers,
  SigningKeys: accountAnswers.signingKeys,
  OwnTokens: accountAnswers.ownTokens,
  RotatedToken: rotatedTokenInput,
  OwnStats: accountAnswers.ownStats,
  Attention: statsAnswers.attention,
  FoundNames: statsAnswers.foundNames,
  HostTimes: statsAnswers.hostTimes,
  LaneTimes: statsAnswers.laneTimes,
  AlarmSettings: alarmSettings,
  Alarms: alarms.alarms,
  TestedAlarm: alarms.testedAlarm,
  AuditPage: accountAnswers.auditPage,
  NewAccount: newAccountInput,
  AccountChange: changedAccountInput,
  Account: accountAnswers.account,
  Accounts: accountAnswers.accounts,
  NewToken: newTokenInput,
  NewOwnToken: newOwnTokenInput,
  NamedToken: accountAnswers.namedToken,
  NamedTokens: accountAnswers.namedTokens,
  MadeToken: accountAnswers.madeToken,
  AccountStats: accountAnswers.accountStats,
  TestedCallback: accountAnswers.testedCallback,
  Health: answers.health,
  Description: answers.description,
  Nothing: answers.nothing,
} as const satisfies Record<string, z.ZodMiniType>;

export type SchemaName = keyof typeof shapes;

export type Shown<Name extends SchemaName> = answers.Given<(typeof shapes)[Name]>;

export interface Reference {
  readonly $ref: string;
}

const uri = (name: string): string => `#/components/schemas/${name}`;

export const schemaOf = (name: SchemaName): Reference => ({ $ref: uri(name) });

/**
 * Writes the shapes as JSON Schema, with references to each other. Objects allow unknown fields, because
 * answers may get new fields that clients must accept.
 */
export function componentSchemas(): Readonly<Record<string, object>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(shapes)) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri,
    io: 'input',
    override: ({ jsonSchema }) => {
      // zod adds these to every integer and every map, without need.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
    },
  });
  // A schema's name is its key, so it is not repeated.
  const isSaid = ([keyword]: readonly [string, unknown]): boolean => /^\$(id|schema)$/.test(keyword);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter((entry) => !isSaid(entry))),
    ]),
  );
}

/** The schemas that a description refers to, directly or through other schemas. */
export function schemasIn(described: unknown): Readonly<Record<string, object>> {
  const all = componentSchemas();
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      collect(all[name]);
    }
  };
  collect(described);
  return Object.fromEntries(Object.entries(all).filter(([name]) => found.has(name)));
}
