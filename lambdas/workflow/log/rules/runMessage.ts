/**
 * The messages of a run, in the order of its journal, each with its step as the log shows it. The log, its
 * list of requests and the detection of hanging runs are made from these.
 */
import { secondMs } from '../../../shared/clock.ts';
import { shownHeaders, type Header } from '../../../shared/headers.ts';
import type { Answer } from '../../../wire/answers.ts';
import type { runRequest, runStep } from '../../../wire/workflowAnswers.ts';
import { overlaid } from '../../rules/forwarding.ts';
import type { JournalRecord, ListedEntry, RunStart } from '../../rules/journal.ts';
import type { StepDetails, StepIdentity } from '../../rules/step.ts';
import { stepDurationMs } from '../../rules/time.ts';

export type ShownStep = Answer<typeof runStep>;
export type ShownRequest = Answer<typeof runRequest>;
export type FailedAttempt = NonNullable<ShownStep['errors']>[number];
export type MadeRequest = Omit<ShownRequest, 'submitted' | 'returned' | 'refusal'>;

export interface History {
  /** Oldest first. */
  readonly failures: readonly FailedAttempt[];
  /** Oldest first. */
  readonly requests?: readonly MadeRequest[] | undefined;
  /**
   * The outcome of the last attempt; `CANCELED` if the message was withdrawn with its run. Undefined before
   * that.
   */
  readonly end?: 'DELIVERED' | 'FAILED' | 'CANCELED' | undefined;
  /** The earliest time of the next attempt. */
  readonly nextDeliveryAt?: number | undefined;
}

export interface RunMessage extends History {
  /** The beginning of a step whose result comes from elsewhere is a `call`, `wait` or `invoke`. */
  readonly kind: 'initial' | 'plan' | 'result' | 'call' | 'wait' | 'invoke';
  readonly step: ShownStep;
  /** Other fields of the step. Those of a call, wait or invoke are also shown in its result. */
  readonly details?: Partial<ShownStep> | undefined;
  /** The message that delivers the answer of a call to the endpoint, if it exists. */
  readonly callback?: (History & { readonly messageId: string }) | undefined;
}

/** The part of a call or invoke that is not in the journal. */
export interface Known extends Pick<RunMessage, 'details' | 'callback'> {
  readonly step?: Partial<Pick<ShownStep, 'headers' | 'retries' | 'retryDelay'>> | undefined;
}

interface KnownMessages {
  readonly histories: ReadonlyMap<string, History>;
  /** The texts of the payload and of step results. */
  readonly texts: ReadonlyMap<string, string | undefined>;
  /** By the message ids of calls and invokes. Expired ones are missing. */
  readonly others: ReadonlyMap<string, Known>;
  readonly headersOf: (forwarded: readonly Header[]) => readonly Header[];
}

const nothingYet: History = { failures: [] };

/** @param notBefore when the message may first be delivered */
function historyFrom(known: KnownMessages, messageId: string, notBefore: number): History {
  const history = known.histories.get(messageId) ?? nothingYet;
  return history.failures.length > 0 || history.end !== undefined
    ? history
    : { ...history, nextDeliveryAt: notBefore };
}

const initial = { stepName: 'init', stepType: 'Initial', callType: 'step', concurrent: 1 } as const;

const identityOf = ({ stepId, stepName, stepType, concurrent }: StepIdentity): StepIdentity => ({
  stepId,
  stepName,
  stepType,
  concurrent,
});

/** The published client's steps have seconds, the log has milliseconds. */
const sleepOf = ({ sleepFor, sleepUntil }: StepDetails) => ({
  sleepFor: sleepFor === undefined ? undefined : stepDurationMs(sleepFor),
  sleepUntil: sleepUntil === undefined ? undefined : Math.round(sleepUntil * secondMs),
});

const resultDetails = (step: StepDetails): Partial<ShownStep> | undefined =>
  step.kind === 'plan'
    ? undefined
    : {
        ...(step.waitEventId !== undefined && { waitEventId: step.waitEventId }),
        waitTimeout: step.waitTimeout,
      };

function ofEntry(start: RunStart, known: KnownMessages, entry: ListedEntry, isKept?: true): RunMessage {
  const { messageId, createdAt, notBefore, step, forwarded = [] } = entry;
  const { maxRetries, retryDelay } = entry.settings ?? start.settings;
  return {
    kind: step?.kind ?? 'initial',
    ...historyFrom(known, messageId, notBefore),
    step: {
      ...(step === undefined ? initial : identityOf(step)),
      callType: 'step',
      state: step?.kind === 'plan' ? 'STEP_PROGRESS' : 'STEP_SUCCESS',
      out: step?.kind === 'plan' ? undefined : known.texts.get(messageId),
      messageId,
      createdAt,
      headers: shownHeaders(overlaid(known.headersOf(start.forwarded), known.headersOf(forwarded))),
      retries: maxRetries,
      retryDelay,
      kept: isKept,
      ...(step && sleepOf(step)),
    },
    details: step && resultDetails(step),
  };
}

type Pending = Extract<JournalRecord, { readonly kind: 'call' | 'wait' | 'invoke' }>;

function ofPending({ settings }: RunStart, known: KnownMessages, record: Pending): RunMessage {
  const { messageId } = record;
  const found = known.others.get(messageId);
  const headers = shownHeaders(record.kind === 'wait' ? known.headersOf(record.forwarded) : []);
  const step: ShownStep = {
    ...record.step,
    callType: record.kind !== 'call' ? 'step' : found?.callback === undefined ? 'toCallback' : 'fromCallback',
    state: 'STEP_PROGRESS',
    messageId,
    createdAt: record.at,
    headers,
    retries: settings.maxRetries,
    retryDelay: settings.retryDelay,
    ...found?.step,
  };
  switch (record.kind) {
    case 'call': {
      const history = known.histories.get(messageId) ?? nothingYet;
      const details = found?.details ?? { callHeaders: headers };
      return { kind: record.kind, ...history, step, details, callback: found?.callback };
    }
    case 'wait': {
      const { eventId: waitEventId, timeout: waitTimeoutDuration, deadline: waitTimeoutDeadline } = record;
      const details = { waitEventId, waitTimeoutDuration, waitTimeoutDeadline };
      return { kind: record.kind, ...nothingYet, step, details };
    }
    case 'invoke': {
      const details = {
        invokedWorkflowRunId: record.runId,
        invokedWorkflowUrl: record.url,
        invokedWorkflowCreatedAt: record.createdAt,
        ...(found?.details ?? { invokedWorkflowRunHeaders: headers }),
      };
      return { kind: record.kind, ...nothingYet, step, details };
    }
    default:
      return record satisfies never;
  }
}

/** When an unknown client has identified itself, the payload is delivered to it again. */
function withUpgrade(message: RunMessage, again: History): RunMessage {
  return {
    ...message,
    failures: [...message.failures, ...again.failures],
    requests: [...(message.requests ?? []), ...(again.requests ?? [])],
    end: again.end,
    nextDeliveryAt: again.nextDeliveryAt,
  };
}

export function runMessagesOf(
  start: RunStart,
  records: readonly JournalRecord[],
  known: KnownMessages,
): readonly RunMessage[] {
  const messages: RunMessage[] = [];
  for (const record of records) {
    switch (record.kind) {
      case 'start':
        messages.push(ofEntry(start, known, record.entry));
        break;
      case 'upgrade': {
        const [first] = messages;
        if (first !== undefined) {
          messages[0] = withUpgrade(first, historyFrom(known, record.messageId, record.at));
        }
        break;
      }
      case 'steps':
        messages.push(...record.entries.map((entry) => ofEntry(start, known, entry, record.isCopy)));
        break;
      case 'lateResult':
        // The result is never delivered, because the run has ended.
        messages.push({ ...ofEntry(start, known, record.entry), end: 'DELIVERED' });
        break;
      case 'call':
      case 'wait':
      case 'invoke':
        messages.push(ofPending(start, known, record));
        break;
      case 'settings':
      case 'event':
      case 'end':
      case 'failureFunction':
      case 'kept':
        break;
      default:
        record satisfies never;
    }
  }
  return messages;
}
