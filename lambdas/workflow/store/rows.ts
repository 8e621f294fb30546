import * as z from 'zod/mini';
import type { KeptResponse } from '../../message/message.ts';
import { failureFunctionStates, runStates, stepTypes } from '../../wire/states.ts';
import { features } from '../rules/features.ts';
import type { Invoker } from '../rules/invoking.ts';
import type { Snapshot, JournalRecord, ListedEntry, RunFailure, RunStart } from '../rules/journal.ts';
import type { StepMark, StepSet } from '../rules/placing.ts';
import type { StepIdentity } from '../rules/step.ts';
import { storedBody } from '../../message/message.ts';
import type { Shape } from '../../options/option.ts';
import { stored, storedOfRun } from '../../options/options.ts';
import { callbackSettings } from '../../message/message.ts';
import { bytes, headerPairs } from '../../table/attributes.ts';

const identity = {
  stepId: z.number(),
  stepName: z.string(),
  stepType: z.enum(stepTypes),
  concurrent: z.number(),
} satisfies Shape<StepIdentity>;

const stepIdentity = z.object(identity);

const stepSettings = {
  sleepFor: z.optional(z.union([z.number(), z.string()])),
  sleepUntil: z.optional(z.number()),
  waitEventId: z.optional(z.string()),
  timeout: z.optional(z.union([z.number(), z.string()])),
};

const stepDetails = z.union([
  z.object({ kind: z.literal('plan'), ...identity, ...stepSettings }),
  z.object({
    kind: z.literal('result'),
    ...identity,
    ...stepSettings,
    waitTimeout: z.optional(z.boolean()),
    webhookId: z.optional(z.string()),
  }),
]);

const runIdentity = { runId: z.string(), createdAt: z.number() };

const runStart = z.object({
  url: z.string(),
  prefix: z.string(),
  features: z.array(z.enum(features)),
  sdkVersion: z.optional(z.string()),
  isUnknownClient: z.boolean(),
  isWithoutClient: z.optional(z.literal(true)),
  forwarded: headerPairs,
  settings: z.object({ ...storedOfRun, timeoutMs: stored.timeoutMs, deferredMs: stored.deferredMs }),
  invokeDepth: z.number(),
  callerIp: z.string(),
  failureCallback: z.optional(callbackSettings),
  invoker: z.optional(
    z.object({
      ...runIdentity,
      url: z.string(),
      step: stepIdentity,
      headers: headerPairs,
    } satisfies Shape<Invoker>),
  ),
  scheduleId: z.optional(z.string()),
  token: z.optional(z.string()),
  resumes: z.optional(z.object(runIdentity)),
} satisfies Shape<RunStart>);

const listedEntry = z.object({
  messageId: z.string(),
  url: z.string(),
  createdAt: z.number(),
  notBefore: z.number(),
  body: storedBody,
  bodyBytes: z.number(),
  step: z.optional(stepDetails),
  forwarded: z.optional(headerPairs),
  settings: z.optional(z.object(storedOfRun)),
} satisfies Shape<ListedEntry>);

const failure = z.object({
  messageId: z.string(),
  attempt: z.number(),
  dlqId: z.string(),
  requestId: z.optional(z.string()),
  response: z.object({
    status: z.number(),
    error: z.optional(z.string()),
    headers: headerPairs,
    body: bytes,
  } satisfies Shape<KeptResponse>),
} satisfies Shape<RunFailure>);

const at = z.number();
const messageId = z.string();
const failureState = z.optional(z.enum(failureFunctionStates));

const recordShape = z.union([
  z.object({
    kind: z.literal('start'),
    at,
    start: runStart,
    entry: listedEntry,
    resumedAs: z.optional(z.object(runIdentity)),
  }),
  z.object({ kind: z.literal('upgrade'), at, start: runStart, messageId }),
  z.object({ kind: z.literal('settings'), at, start: runStart }),
  z.object({
    kind: z.literal('steps'),
    at,
    entries: z.array(listedEntry),
    isCopy: z.optional(z.literal(true)),
    eventSeq: z.optional(z.number()),
  }),
  z.object({ kind: z.literal('call'), at, step: stepIdentity, messageId }),
  z.object({
    kind: z.literal('wait'),
    at,
    step: stepIdentity,
    messageId,
    eventId: z.string(),
    url: z.string(),
    timeout: z.string(),
    deadline: z.number(),
    timeoutUrl: z.string(),
    forwarded: headerPairs,
    timeoutForwarded: headerPairs,
    headers: headerPairs,
    timeoutHeaders: headerPairs,
    settings: z.optional(z.object(storedOfRun)),
  }),
  z.object({ kind: z.literal('invoke'), at, step: stepIdentity, messageId, ...runIdentity, url: z.string() }),
  z.object({
    kind: z.literal('event'),
    at,
    eventId: z.string(),
    messageId,
    body: storedBody,
    callBytes: z.optional(z.number()),
  }),
  z.object({
    kind: z.literal('end'),
    at,
    state: z.enum(['RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']),
    response: z.optional(storedBody),
    responseId: z.optional(z.string()),
    failure: z.optional(failure),
  }),
  z.object({ kind: z.literal('failureFunction'), at, state: failureState, messageId }),
  z.object({ kind: z.literal('lateResult'), at, entry: listedEntry }),
  z.object({ kind: z.literal('kept'), at }),
]);

const stepSet = z.optional(z.string());
const marked = { digest: z.string(), seq: z.number() };

const snapshotShape = z.object({
  seq: z.number(),
  startSeq: z.number(),
  factsSeq: z.number(),
  createdAt: z.number(),
  state: z.enum(runStates),
  endSeq: z.optional(z.number()),
  entries: z.number(),
  bodyBytes: z.number(),
  steps: z.object({
    plan: stepSet,
    result: stepSet,
    call: stepSet,
    wait: stepSet,
    invoke: stepSet,
  } satisfies Shape<Record<StepMark, StepSet>>),
  waits: z.array(z.object({ ...marked, stepId: z.number() })),
  events: z.array(z.object({ ...marked, callBytes: z.optional(z.number()) })),
  webhooks: z.array(z.string()),
  keptUntil: z.number(),
  failureState,
} satisfies Shape<Snapshot>);

export interface JournalRow {
  readonly record: JournalRecord;
  readonly snapshot: Snapshot;
}

const headShape = z.object({ head: snapshotShape });
const rowShape = z.object({ record: recordShape, head: snapshotShape });

/** @throws if the attributes are not a record */
export const journalRowOf = (attributes: unknown): JournalRow => {
  const { record, head } = rowShape.parse(attributes);
  return { record, snapshot: head };
};

export const snapshotOf = (attributes: unknown): Snapshot => headShape.parse(attributes).head;
