/**
 * The journal of a run: everything that it has recorded, in order. Each record has the {@link Snapshot} of
 * the run after it, so the last record is enough to decide what may come next. If two processes write at the
 * same time, one fails, reads the other's record and decides again.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { callbackSettings, keptResponse, storedBody } from '../../message/message.ts';
import { hasEnded } from '../run.ts';
import { failureFunctionStates, runStates } from '../../wire/states.ts';
import { features } from './features.ts';
import { invoker } from './invoking.ts';
import type { Readable } from '../../options/option.ts';
import { stored, storedOfRun } from '../../options/options.ts';
import { headerPairs } from '../../table/attributes.ts';
import { withStep } from './placing.ts';
import { stepDetails, stepIdentity } from './step.ts';

/** A run id of an account. It may have had several runs, one after another. */
export interface RunKey {
  readonly accountId: string;
  readonly runId: string;
}

const optionalText = z.optional(z.string());
const runIdentity = { runId: z.string(), createdAt: z.number() };
const runSettings = z.optional(z.object(storedOfRun));

const runStart = z.object({
  /** The URL as the start named it. */
  url: z.string(),
  prefix: z.string(),
  features: z.array(z.enum(features)),
  sdkVersion: optionalText,
  /** Whether it is not known yet which client the endpoint has. */
  isUnknownClient: z.boolean(),
  /** The run was started without a client. Its endpoint must have a client from 1.0 on. */
  isWithoutClient: z.optional(z.literal(true)),
  /** Forwarded headers of the start; names in lower case. */
  forwarded: headerPairs,
  settings: z.object({ ...storedOfRun, timeoutMs: stored.timeoutMs, deferredMs: stored.deferredMs }),
  invokeDepth: z.number(),
  callerIp: z.string(),
  /** The failure callback's destination and settings, if any. */
  failureCallback: z.optional(callbackSettings),
  /** The run that waits for the end of this one. */
  invoker: z.optional(invoker),
  scheduleId: optionalText,
  /** The id of the restricted token that started the run. */
  token: optionalText,
  /** The failed run that this run resumes or restarts. */
  resumes: z.optional(z.object(runIdentity)),
});
export type RunStart = Readable<z.infer<typeof runStart>>;

/** An entry of the list in deliveries: the initial payload or a step. */
const listedEntry = z.object({
  messageId: z.string(),
  url: z.string(),
  /** When it was accepted, and when it may first be delivered. */
  createdAt: z.number(),
  notBefore: z.number(),
  body: storedBody,
  bodyBytes: z.number(),
  /** Undefined for the initial payload. */
  step: z.optional(stepDetails),
  forwarded: z.optional(headerPairs),
  /** The message's own settings, unless the run's settings apply to all: see `ownSettings`. */
  settings: runSettings,
});
export type ListedEntry = Readable<z.infer<typeof listedEntry>>;
export type StepEntry = ListedEntry & Required<Pick<ListedEntry, 'step'>>;

const runFailure = z.object({
  /** The delivery that failed, and its last attempt. */
  messageId: z.string(),
  attempt: z.number(),
  dlqId: z.string(),
  /** The failure callback; undefined if the failure is not reported. */
  requestId: optionalText,
  response: keptResponse,
});
export type RunFailure = Readable<z.infer<typeof runFailure>>;

const at = z.number();
const messageId = z.string();
const failureState = z.optional(z.enum(failureFunctionStates));

export const recordShape = z.union([
  /** The run has started, with its first entry, the payload. */
  z.object({
    kind: z.literal('start'),
    at,
    start: runStart,
    entry: listedEntry,
    /**
     * The run that resumes this one. Added after the run's failure; nothing else in a record ever changes.
     */
    resumedAs: z.optional(z.object(runIdentity)),
  }),
  /**
   * The endpoint has identified its client. `start` replaces the earlier settings. The message delivers the
   * payload again.
   */
  z.object({ kind: z.literal('upgrade'), at, start: runStart, messageId }),
  /**
   * A submission has named the failure callback. Older clients name it only with their steps. `start`
   * replaces the earlier settings.
   */
  z.object({ kind: z.literal('settings'), at, start: runStart }),
  /**
   * Steps were submitted: one result, the plans of a parallel group (perhaps in several records), or copies
   * of a resumed run's steps.
   */
  z.object({
    kind: z.literal('steps'),
    at,
    entries: z.array(listedEntry),
    /** The steps are copied from another run, which has delivered them. */
    isCopy: z.optional(z.literal(true)),
    /** The place of the stored event that was used for a result. */
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
    /** The duration as the user wrote it, for the log. */
    timeout: z.string(),
    deadline: z.number(),
    timeoutUrl: z.string(),
    forwarded: headerPairs,
    timeoutForwarded: headerPairs,
    /** Headers of the request and of its timeout, for the list of waiters. */
    headers: headerPairs,
    timeoutHeaders: headerPairs,
    settings: runSettings,
  }),
  z.object({ kind: z.literal('invoke'), at, step: stepIdentity, messageId, ...runIdentity, url: z.string() }),
  /** An event has arrived that no step waits for yet. */
  z.object({
    kind: z.literal('event'),
    at,
    eventId: z.string(),
    messageId,
    body: storedBody,
    /** Bytes of a webhook call in the run's list; undefined for a notification. */
    callBytes: z.optional(z.number()),
  }),
  z.object({
    kind: z.literal('end'),
    at,
    state: z.enum(['RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']),
    /** The value that the function returned. */
    response: z.optional(storedBody),
    responseId: optionalText,
    failure: z.optional(runFailure),
  }),
  /**
   * The failure function has a new state, or the failure callback with this id runs it again. No state means
   * that the endpoint has no failure function.
   */
  z.object({ kind: z.literal('failureFunction'), at, state: failureState, messageId }),
  z.object({ kind: z.literal('lateResult'), at, entry: listedEntry }),
  /** The run's records are kept longer, because the run waits for a long time. */
  z.object({ kind: z.literal('kept'), at }),
]);
export type JournalRecord = Readable<z.infer<typeof recordShape>>;
type RecordOf<Kind extends JournalRecord['kind']> = Extract<JournalRecord, { readonly kind: Kind }>;
export type StartRecord = RecordOf<'start'>;
export type UpgradeRecord = RecordOf<'upgrade'>;
export type StepsRecord = RecordOf<'steps'>;
export type CallRecord = RecordOf<'call'>;
export type WaitRecord = RecordOf<'wait'>;
export type InvokeRecord = RecordOf<'invoke'>;
export type EndRecord = RecordOf<'end'>;
export type FailureFunctionRecord = RecordOf<'failureFunction'>;

/** The place of a record in the journal, and the digest of a name: see {@link eventDigest}. */
const marked = { digest: z.string(), seq: z.number() };
/** See `placing.ts`. */
const stepSet = optionalText;

export const snapshotShape = z.object({
  /**
   * The places of the last record and of the run's start in the journal. Earlier runs of the id are before
   * it.
   */
  seq: z.number(),
  startSeq: z.number(),
  /** The place of the record with the current settings: the start, the upgrade, or later settings. */
  factsSeq: z.number(),
  /** When the run started. */
  createdAt: z.number(),
  state: z.enum(runStates),
  /** The place of the record that ended the run. */
  endSeq: z.optional(z.number()),
  entries: z.number(),
  bodyBytes: z.number(),
  steps: z.object({ plan: stepSet, result: stepSet, call: stepSet, wait: stepSet, invoke: stepSet }),
  waits: z.array(z.object({ ...marked, stepId: z.number() })),
  events: z.array(z.object({ ...marked, callBytes: z.optional(z.number()) })),
  /** Digests of the run's webhooks; the newest is last. */
  webhooks: z.array(z.string()),
  keptUntil: z.number(),
  /** Undefined unless the run has failed and its failure is reported. */
  failureState,
});
export type Snapshot = Readable<z.infer<typeof snapshotShape>>;

/** A digest takes 17 of at most 400,000 bytes in each record. Older webhooks are forgotten. */
const mostWebhooks = 1_000;

/** A short name for an event's id, which can have 256 characters. */
export const eventDigest = (eventId: string): string =>
  createHash('sha256').update(eventId).digest('base64url').slice(0, 16);

export const isActive = (snapshot: Snapshot | undefined): snapshot is Snapshot =>
  snapshot !== undefined && !hasEnded(snapshot.state);

/** The newest run of an id, or the one with this start. */
export interface WhichRun {
  readonly runId: string;
  /** Unix milliseconds; undefined for the newest run. */
  readonly createdAt?: number | undefined;
}

/** Whether a snapshot belongs to the given run. */
export const isSameRun = (snapshot: Snapshot | undefined, { createdAt }: WhichRun): snapshot is Snapshot =>
  snapshot !== undefined && (createdAt === undefined || createdAt === snapshot.createdAt);

/** Whether a snapshot belongs to the given run, and the run is active. */
export const isMeant = (snapshot: Snapshot, which: WhichRun): boolean =>
  isActive(snapshot) && isSameRun(snapshot, which);

const firstSnapshot = (before: Snapshot | undefined, record: StartRecord, keptUntil: number): Snapshot => ({
  seq: (before?.seq ?? -1) + 1,
  startSeq: (before?.seq ?? -1) + 1,
  factsSeq: (before?.seq ?? -1) + 1,
  createdAt: record.at,
  state: 'RUN_STARTED',
  entries: 1,
  bodyBytes: record.entry.bodyBytes,
  steps: {},
  waits: [],
  events: [],
  webhooks: [],
  keptUntil,
});

function withEntries(snapshot: Snapshot, entries: readonly ListedEntry[]): Snapshot {
  let { steps } = snapshot;
  let bodyBytes = snapshot.bodyBytes;
  const ended = new Set<number>();
  const created: string[] = [];
  for (const entry of entries) {
    bodyBytes += entry.bodyBytes;
    if (entry.step === undefined) continue;
    steps = withStep(steps, entry.step.kind, entry.step.stepId);
    if (entry.step.kind !== 'result') continue;
    ended.add(entry.step.stepId);
    if (entry.step.webhookId !== undefined) created.push(eventDigest(entry.step.webhookId));
  }
  return {
    ...snapshot,
    entries: snapshot.entries + entries.length,
    bodyBytes,
    steps,
    waits: snapshot.waits.filter(({ stepId }) => !ended.has(stepId)),
    webhooks: [...snapshot.webhooks, ...created].slice(-mostWebhooks),
  };
}

/**
 * @param before undefined for the first record of an id
 * @param keptUntil the run's records are kept at least until then
 */
export function snapshotAfter(before: Snapshot | undefined, record: JournalRecord, keptUntil = 0): Snapshot {
  if (record.kind === 'start') return firstSnapshot(before, record, keptUntil);
  if (before === undefined) throw new Error('The first record of a journal is a start.');
  const snapshot = { ...before, seq: before.seq + 1, keptUntil: Math.max(before.keptUntil, keptUntil) };
  switch (record.kind) {
    case 'kept':
      return snapshot;
    case 'upgrade':
    case 'settings':
      return { ...snapshot, factsSeq: snapshot.seq };
    case 'failureFunction':
      return { ...snapshot, failureState: record.state };
    case 'lateResult':
      return { ...snapshot, steps: withEntries(snapshot, [record.entry]).steps };
    case 'steps': {
      const events = snapshot.events.filter(({ seq }) => seq !== record.eventSeq);
      return { ...withEntries(snapshot, record.entries), events };
    }
    case 'call':
    case 'invoke':
      return { ...snapshot, steps: withStep(snapshot.steps, record.kind, record.step.stepId) };
    case 'wait': {
      const { stepId } = record.step;
      const wait = { digest: eventDigest(record.eventId), seq: snapshot.seq, stepId };
      return {
        ...snapshot,
        steps: withStep(snapshot.steps, 'wait', stepId),
        waits: [...snapshot.waits, wait],
      };
    }
    case 'event': {
      const event = { digest: eventDigest(record.eventId), seq: snapshot.seq, callBytes: record.callBytes };
      return { ...snapshot, events: [...snapshot.events, event] };
    }
    case 'end':
      return {
        ...snapshot,
        state: record.state,
        endSeq: snapshot.seq,
        waits: [],
        events: [],
        webhooks: [],
        failureState: record.failure?.requestId === undefined ? undefined : 'CALLBACK_INPROGRESS',
      };
  }
}
