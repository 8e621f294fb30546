import type { Header } from '../../../shared/headers.ts';
import type { RunState } from '../../../wire/states.ts';
import type { StepIdentity } from '../../rules/step.ts';
import type { FailedAttempt } from './errors.ts';

export interface MadeRequest {
  readonly messageId: string;
  /** 0 for the first delivery of the message. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly error?: string | undefined;
}

export interface History {
  /** Oldest first. */
  readonly failures: readonly FailedAttempt[];
  /** Oldest first. */
  readonly requests?: readonly MadeRequest[] | undefined;
  /** How the attempts ended, or that the message was withdrawn with its run. Undefined before that. */
  readonly end?: 'DELIVERED' | 'FAILED' | 'CANCELED' | undefined;
  /** The earliest time of the next attempt, Unix milliseconds. */
  readonly nextDeliveryAt?: number | undefined;
}

interface Common extends History {
  /** Whether it is copied from the run that this run resumes. */
  readonly isKept?: true | undefined;
  readonly messageId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly maxRetries: number;
  readonly retryDelay?: string | undefined;
  /** The forwarded headers and the content type. */
  readonly headers: readonly Header[];
}

export interface InitialRecord extends Common {
  readonly kind: 'initial';
  /** Undefined if bodies are not shown. */
  readonly payload?: string | undefined;
}

export interface PlanRecord extends Common {
  readonly kind: 'plan';
  readonly step: StepIdentity;
  /** Milliseconds; `sleepUntil` is in Unix milliseconds. */
  readonly sleepFor?: number | undefined;
  readonly sleepUntil?: number | undefined;
}

export interface ResultRecord extends Common {
  readonly kind: 'result';
  readonly step: StepIdentity;
  readonly out?: string | undefined;
  readonly sleepFor?: number | undefined;
  readonly sleepUntil?: number | undefined;
  readonly waitEventId?: string | undefined;
  readonly waitTimeout?: boolean | undefined;
}

export interface CallResponse {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body?: string | undefined;
}

export interface CallRecord extends Common {
  readonly kind: 'call';
  readonly step: StepIdentity;
  /** This and the following fields are absent until the message is stored. */
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  readonly body?: string | undefined;
  readonly response?: CallResponse | undefined;
  /** The message that brings the response to the endpoint, once it is made. */
  readonly callback?: (History & { readonly messageId: string }) | undefined;
}

export interface WaitRecord extends Common {
  readonly kind: 'wait';
  readonly step: StepIdentity;
  readonly eventId: string;
  /** As the user wrote it. */
  readonly timeout: string;
  /** Unix milliseconds. */
  readonly deadline: number;
}

export interface InvokeRecord extends Common {
  readonly kind: 'invoke';
  readonly step: StepIdentity;
  readonly runId: string;
  readonly url: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The initial payload of the invoked run. */
  readonly body?: string | undefined;
}

/** The beginning of a step whose result comes from elsewhere. */
export type PendingRecord = CallRecord | WaitRecord | InvokeRecord;

export type RunMessage = InitialRecord | PlanRecord | ResultRecord | PendingRecord;

export interface RunRecord {
  readonly state: RunState;
  readonly messages: readonly RunMessage[];
  /** The failure that ended the run, if it belongs to none of these messages: a request of its endpoint was refused. */
  readonly failure?: FailedAttempt | undefined;
}
