/**
 * The journal of a run: all that happened to it, in order. A record is written once, behind the last one. Of two processes that
 * write at the same time one comes first, and the other decides again on what that one wrote. Each record carries the
 * {@link Snapshot} of the run after it, so the last record suffices to judge what comes next.
 */
import { createHash } from 'node:crypto';
import type { StoredBody } from '../../message/bodies.ts';
import type { Header } from '../../shared/headers.ts';
import type { CallbackSettings, DeliverySettings, KeptResponse } from '../../message/message.ts';
import { hasEnded } from '../run.ts';
import type { FailureFunctionState, RunState } from '../../wire/states.ts';
import type { Feature } from './features.ts';
import type { Invoker } from './invoking.ts';
import type { RunSettings } from '../../options/options.ts';
import { withStep, type StepSets } from './placing.ts';
import type { StepDetails, StepIdentity } from './step.ts';

/** An id of runs in its account. */
export interface RunKey {
  readonly accountId: string;
  readonly runId: string;
}

/** The settings that a run is started with. */
export interface RunStart {
  /** The URL that it was started with, and that is shown for it. */
  readonly url: string;
  readonly prefix: string;
  readonly features: readonly Feature[];
  readonly sdkVersion?: string | undefined;
  /** Whether its endpoint is asked what client it has, and has not answered yet. */
  readonly isUnknownClient: boolean;
  /** Present for a run that was started without a client: only clients from 1.0 on can serve it. */
  readonly isWithoutClient?: true | undefined;
  /** Headers that its start gave for forwarding; names in lower case. */
  readonly forwarded: readonly Header[];
  readonly settings: RunSettings & Pick<DeliverySettings, 'timeoutMs' | 'deferredMs'>;
  readonly invokeDepth: number;
  readonly callerIp: string;
  /** The destination of the message that tells of its failure, with its settings; absent where nobody is told. */
  readonly failureCallback?: CallbackSettings | undefined;
  /** The run that waits for its end. */
  readonly invoker?: Invoker | undefined;
  readonly scheduleId?: string | undefined;
  /** The failed run that it was made from, by a resume or a restart. */
  readonly resumes?: Pick<Invoker, 'runId' | 'createdAt'> | undefined;
}

/** An entry of the list that deliveries show: the initial payload, or a step. */
export interface ListedEntry {
  readonly messageId: string;
  /** The endpoint's URL that it is delivered to. */
  readonly url: string;
  /** Unix milliseconds of its acceptance, and before which it is not delivered. */
  readonly createdAt: number;
  readonly notBefore: number;
  readonly body: StoredBody;
  readonly bodyBytes: number;
  /** Absent for the initial payload. */
  readonly step?: StepDetails | undefined;
  /** Headers that its message gave for forwarding itself. */
  readonly forwarded?: readonly Header[] | undefined;
  /** Settings of its own message, where those of the run do not hold for all: see `settingsFor`. */
  readonly settings?: RunSettings | undefined;
}

/** The entry of a step. */
export type StepEntry = ListedEntry & Required<Pick<ListedEntry, 'step'>>;

interface Timed {
  /** Unix milliseconds. */
  readonly at: number;
}

/** Starts the run. The payload is its first entry. */
export interface StartRecord extends Timed {
  readonly kind: 'start';
  readonly start: RunStart;
  readonly entry: ListedEntry;
  /** The run that was made from it after it had failed. Noted later: the one change of a record. */
  readonly resumedAs?: Pick<Invoker, 'runId' | 'createdAt'> | undefined;
}
/** The endpoint of an unknown client has told which client it has: these settings take the place of those before. */
export interface UpgradeRecord extends Timed {
  readonly kind: 'upgrade';
  readonly start: RunStart;
  /** The message that delivers the payload again. */
  readonly messageId: string;
}
/**
 * A submission has told whom to tell of the run's failure: older clients do so with their steps only. These settings take the place
 * of those before.
 */
export interface SettingsRecord extends Timed {
  readonly kind: 'settings';
  readonly start: RunStart;
}
/** One result, or the plans of a parallel group, which may take several records; or copied steps, at the beginning of a run that goes on from a failed one. */
export interface StepsRecord extends Timed {
  readonly kind: 'steps';
  readonly entries: readonly ListedEntry[];
  /** Whether they are copies of another run's steps, which were delivered there. */
  readonly isCopy?: true | undefined;
  /** The place of the stored event that a result consumes. */
  readonly eventSeq?: number | undefined;
}
/** A call to a third party has begun. */
export interface CallRecord extends Timed {
  readonly kind: 'call';
  readonly step: StepIdentity;
  readonly messageId: string;
}
/** A wait has begun. */
export interface WaitRecord extends Timed {
  readonly kind: 'wait';
  readonly step: StepIdentity;
  readonly messageId: string;
  readonly eventId: string;
  readonly url: string;
  /** The time-out as the user wrote it, for the log. */
  readonly timeout: string;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly timeoutUrl: string;
  /** Headers for the delivery of the event, and for that of the time-out, without those of the service. */
  readonly forwarded: readonly Header[];
  readonly timeoutForwarded: readonly Header[];
  /** Headers of the request, and those that it gives for the time-out, as the list of waiters shows them. */
  readonly headers: readonly Header[];
  readonly timeoutHeaders: readonly Header[];
  /** Settings of its own message, where those of the run do not hold for all: see `settingsFor`. */
  readonly settings?: RunSettings | undefined;
}
/** An invoke has begun. */
export interface InvokeRecord extends Timed {
  readonly kind: 'invoke';
  readonly step: StepIdentity;
  readonly messageId: string;
  readonly runId: string;
  readonly createdAt: number;
  readonly url: string;
}
/** An event that came before a wait for it. */
export interface EventRecord extends Timed {
  readonly kind: 'event';
  readonly eventId: string;
  readonly messageId: string;
  readonly body: StoredBody;
  /** Bytes that a webhook's call takes in the run's list. Absent for a notification. */
  readonly callBytes?: number | undefined;
}
/** The run has ended. */
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
  /** The message that tells of the failure; absent where nobody is told. */
  readonly requestId?: string | undefined;
  readonly response: KeptResponse;
}
/** The failure function has gone on, or is run again. */
export interface FailureFunctionRecord extends Timed {
  readonly kind: 'failureFunction';
  /** Absent where the endpoint has no failure function. */
  readonly state?: FailureFunctionState | undefined;
  /** The message that tells of the failure. */
  readonly messageId: string;
}
/** The result of an invoked run that ended after its invoker: only the log shows it. */
export interface LateResultRecord extends Timed {
  readonly kind: 'lateResult';
  readonly entry: ListedEntry;
}
/** The run waits for something that lasts longer than its records would have been kept. */
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
  /** The name's digest: see {@link eventDigest}. */
  readonly digest: string;
  /** The place of its record in the journal. */
  readonly seq: number;
}

/** The state of a run after a record. Rows store it in the attribute `head`. */
export interface Snapshot {
  /** The place of the record in the journal, and of the run's start: an id may have had runs before. */
  readonly seq: number;
  readonly startSeq: number;
  /** The place of the record that has the run's settings: its start, its upgrade, or later settings. */
  readonly factsSeq: number;
  /** Unix milliseconds at which the run was started. */
  readonly createdAt: number;
  readonly state: RunState;
  /** The place of the record that ended it. */
  readonly endSeq?: number | undefined;
  /** Entries of the list, and bytes of their bodies. */
  readonly entries: number;
  readonly bodyBytes: number;
  readonly steps: StepSets;
  /** Waits that have not ended, with their steps. */
  readonly waits: readonly (Marked & { readonly stepId: number })[];
  /** Events that nobody has waited for yet; see {@link EventRecord}. */
  readonly events: readonly (Marked & { readonly callBytes?: number | undefined })[];
  /** Digests of the webhooks that the run has created, the newest last. Absent for runs that earlier versions started. */
  readonly webhooks?: readonly string[] | undefined;
  /** Unix milliseconds until which all records of the run are kept. */
  readonly keptUntil: number;
  /** Present for a run that failed and whose failure is told. */
  readonly failureState?: FailureFunctionState | undefined;
}

/** Webhooks that a run knows, the newest: each of its records names them, with 17 bytes of the 400 KB that a record may have. */
const mostWebhooks = 1_000;

/** A short name for an event's id, which may have 256 characters. */
export const eventDigest = (eventId: string): string =>
  createHash('sha256').update(eventId).digest('base64url').slice(0, 16);

/** Whether an id has a run that has not ended. */
export const isActive = (snapshot: Snapshot | undefined): snapshot is Snapshot =>
  snapshot !== undefined && !hasEnded(snapshot.state);

/** An id of runs, or one of its runs. */
export interface WhichRun {
  readonly runId: string;
  /** Unix milliseconds; undefined for the newest. */
  readonly createdAt?: number | undefined;
}

/** Tells whether a snapshot is that of the given run, and the run is active. */
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
    webhooks: snapshot.webhooks && [...snapshot.webhooks, ...created].slice(-mostWebhooks),
  };
}

/**
 * Makes the snapshot after a record.
 *
 * @param before undefined for the first record of the first run of an id
 * @param keptUntil Unix milliseconds until which the records of the run are kept at least
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
