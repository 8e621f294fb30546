/**
 * The journal of a run: everything that it has recorded, in order. Each record has the {@link Snapshot} of the run after it, so
 * the last record is enough to decide what may come next. If two processes write at the same time, one fails and decides again
 * with the other's record.
 */
import { createHash } from 'node:crypto';
import type { StoredBody } from '../../message/message.ts';
import type { Header } from '../../shared/headers.ts';
import type { CallbackSettings, DeliverySettings, KeptResponse } from '../../message/message.ts';
import { hasEnded } from '../run.ts';
import type { FailureFunctionState, RunState } from '../../wire/states.ts';
import type { Feature } from './features.ts';
import type { Invoker } from './invoking.ts';
import type { RunSettings } from '../../options/options.ts';
import { withStep, type StepSets } from './placing.ts';
import type { StepDetails, StepIdentity } from './step.ts';

/** The run id of an account, which may have had several runs. */
export interface RunKey {
  readonly accountId: string;
  readonly runId: string;
}

export interface RunStart {
  /** The URL that the run was started with and is shown with. */
  readonly url: string;
  readonly prefix: string;
  readonly features: readonly Feature[];
  readonly sdkVersion?: string | undefined;
  /** Whether the endpoint has not yet identified its client. */
  readonly isUnknownClient: boolean;
  /** The run was started without a client. Only clients from 1.0 on can serve it. */
  readonly isWithoutClient?: true | undefined;
  /** Forwarded headers of the start; names in lower case. */
  readonly forwarded: readonly Header[];
  readonly settings: RunSettings & Pick<DeliverySettings, 'timeoutMs' | 'deferredMs'>;
  readonly invokeDepth: number;
  readonly callerIp: string;
  /** The failure callback's destination and settings, if any. */
  readonly failureCallback?: CallbackSettings | undefined;
  /** The run that waits for this one's end. */
  readonly invoker?: Invoker | undefined;
  readonly scheduleId?: string | undefined;
  /** The id of the restricted token that started it. */
  readonly token?: string | undefined;
  /** The failed run that this one resumes or restarts. */
  readonly resumes?: Pick<Invoker, 'runId' | 'createdAt'> | undefined;
}

/** An entry of the list in deliveries: the initial payload or a step. */
export interface ListedEntry {
  readonly messageId: string;
  readonly url: string;
  /** When it was accepted, and when it may first be delivered: Unix milliseconds. */
  readonly createdAt: number;
  readonly notBefore: number;
  readonly body: StoredBody;
  readonly bodyBytes: number;
  /** Undefined for the initial payload. */
  readonly step?: StepDetails | undefined;
  /** The message's own forwarded headers. */
  readonly forwarded?: readonly Header[] | undefined;
  /** The message's own settings, unless the run's settings apply to all: see `settingsFor`. */
  readonly settings?: RunSettings | undefined;
}

export type StepEntry = ListedEntry & Required<Pick<ListedEntry, 'step'>>;

interface Timed {
  /** Unix milliseconds. */
  readonly at: number;
}

/** The payload is the run's first entry. */
export interface StartRecord extends Timed {
  readonly kind: 'start';
  readonly start: RunStart;
  readonly entry: ListedEntry;
  /** The run that was made from this one after its failure. Added later; no other part of a record ever changes. */
  readonly resumedAs?: Pick<Invoker, 'runId' | 'createdAt'> | undefined;
}
/** The endpoint has identified its client. These settings replace the earlier ones. */
export interface UpgradeRecord extends Timed {
  readonly kind: 'upgrade';
  readonly start: RunStart;
  /** Delivers the payload again. */
  readonly messageId: string;
}
/** A submission has named the failure callback, which older clients send only with their steps. Replaces earlier settings. */
export interface SettingsRecord extends Timed {
  readonly kind: 'settings';
  readonly start: RunStart;
}
/** One result; the plans of a parallel group, possibly in several records; or copied steps of a resumed run. */
export interface StepsRecord extends Timed {
  readonly kind: 'steps';
  readonly entries: readonly ListedEntry[];
  /** The steps are copied from another run, which delivered them. */
  readonly isCopy?: true | undefined;
  /** The place of the stored event that a result consumes. */
  readonly eventSeq?: number | undefined;
}
export interface CallRecord extends Timed {
  readonly kind: 'call';
  readonly step: StepIdentity;
  readonly messageId: string;
}
export interface WaitRecord extends Timed {
  readonly kind: 'wait';
  readonly step: StepIdentity;
  readonly messageId: string;
  readonly eventId: string;
  readonly url: string;
  /** As the user wrote it, for the log. */
  readonly timeout: string;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly timeoutUrl: string;
  readonly forwarded: readonly Header[];
  readonly timeoutForwarded: readonly Header[];
  /** Headers of the request and of its timeout, for the list of waiters. */
  readonly headers: readonly Header[];
  readonly timeoutHeaders: readonly Header[];
  readonly settings?: RunSettings | undefined;
}
export interface InvokeRecord extends Timed {
  readonly kind: 'invoke';
  readonly step: StepIdentity;
  readonly messageId: string;
  readonly runId: string;
  readonly createdAt: number;
  readonly url: string;
}
/** An event that arrived before a wait for it. */
export interface EventRecord extends Timed {
  readonly kind: 'event';
  readonly eventId: string;
  readonly messageId: string;
  readonly body: StoredBody;
  /** Bytes of a webhook call in the run's list; undefined for a notification. */
  readonly callBytes?: number | undefined;
}
export interface EndRecord extends Timed {
  readonly kind: 'end';
  readonly state: Exclude<RunState, 'RUN_STARTED'>;
  /** The value that the function returned. */
  readonly response?: StoredBody | undefined;
  readonly responseId?: string | undefined;
  readonly failure?: RunFailure | undefined;
}
export interface RunFailure {
  /** The delivery that failed, and its last attempt. */
  readonly messageId: string;
  readonly attempt: number;
  readonly dlqId: string;
  /** The failure callback; undefined if the failure is not reported. */
  readonly requestId?: string | undefined;
  readonly response: KeptResponse;
}
/** The failure function has a new state, or is run again. */
export interface FailureFunctionRecord extends Timed {
  readonly kind: 'failureFunction';
  /** Undefined if the endpoint has no failure function. */
  readonly state?: FailureFunctionState | undefined;
  /** The failure callback. */
  readonly messageId: string;
}
export interface LateResultRecord extends Timed {
  readonly kind: 'lateResult';
  readonly entry: ListedEntry;
}
/** The run waits longer than its records would be kept. */
export interface KeptRecord extends Timed {
  readonly kind: 'kept';
}

export type JournalRecord =
  | StartRecord
  | UpgradeRecord
  | SettingsRecord
  | StepsRecord
  | CallRecord
  | WaitRecord
  | InvokeRecord
  | EventRecord
  | EndRecord
  | FailureFunctionRecord
  | LateResultRecord
  | KeptRecord;

interface Marked {
  /** See {@link eventDigest}. */
  readonly digest: string;
  /** The place of its record in the journal. */
  readonly seq: number;
}

export interface Snapshot {
  /** The places of the record and of the run's start in the journal. The id may have had earlier runs. */
  readonly seq: number;
  readonly startSeq: number;
  /** The place of the record with the run's settings: its start, its upgrade, or later settings. */
  readonly factsSeq: number;
  /** When the run started, Unix milliseconds. */
  readonly createdAt: number;
  readonly state: RunState;
  /** The place of the record that ended the run. */
  readonly endSeq?: number | undefined;
  /** Entries of the list, and bytes of their bodies. */
  readonly entries: number;
  readonly bodyBytes: number;
  readonly steps: StepSets;
  readonly waits: readonly (Marked & { readonly stepId: number })[];
  /** Events that no step has waited for yet; see {@link EventRecord}. */
  readonly events: readonly (Marked & { readonly callBytes?: number | undefined })[];
  /** Digests of the run's webhooks, the newest last. */
  readonly webhooks: readonly string[];
  /** Until when all records of the run are kept, Unix milliseconds. */
  readonly keptUntil: number;
  /** Undefined unless the run failed and its failure is reported. */
  readonly failureState?: FailureFunctionState | undefined;
}

/** Each takes 17 bytes of every record's 400 KB. Older webhooks are forgotten. */
const mostWebhooks = 1_000;

/** A short name for an event's id, which may have 256 characters. */
export const eventDigest = (eventId: string): string =>
  createHash('sha256').update(eventId).digest('base64url').slice(0, 16);

export const isActive = (snapshot: Snapshot | undefined): snapshot is Snapshot =>
  snapshot !== undefined && !hasEnded(snapshot.state);

/** A run id, or one of its runs. */
export interface WhichRun {
  readonly runId: string;
  /** Unix milliseconds; undefined for the newest run. */
  readonly createdAt?: number | undefined;
}

/** Whether a snapshot belongs to the given run, and the run is active. */
export const isMeant = (snapshot: Snapshot, { createdAt }: WhichRun): boolean =>
  isActive(snapshot) && (createdAt === undefined || createdAt === snapshot.createdAt);

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
 * @param keptUntil the least time to keep the run's records, Unix milliseconds
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
