import { shownHeaders } from '../../../shared/headers.ts';
import type { Answer } from '../../../wire/answers.ts';
import type { StepState } from '../../../wire/states.ts';
import type { runStep } from '../../../wire/workflowAnswers.ts';
import { shownErrors, type FailedAttempt } from './errors.ts';
import type {
  History,
  InitialRecord,
  PendingRecord,
  PlanRecord,
  ResultRecord,
  RunMessage,
} from './runRecord.ts';

export type ShownStep = Answer<typeof runStep>;

export function stateOfHistory({ end, failures }: History): Exclude<StepState, 'STEP_SUCCESS'> {
  if (end === 'FAILED') return 'STEP_FAILED';
  if (end === 'CANCELED') return 'STEP_CANCELED';
  return failures.length > 0 && end === undefined ? 'STEP_RETRY' : 'STEP_PROGRESS';
}

const common = (message: RunMessage) => ({
  messageId: message.messageId,
  createdAt: message.createdAt,
  headers: shownHeaders(message.headers),
  retries: message.maxRetries,
  retryDelay: message.retryDelay,
  kept: message.isKept,
});

/** @param before failed attempts of the delivery that brought the step */
const historyFields = (before: readonly FailedAttempt[], { failures, end, nextDeliveryAt }: History) => ({
  errors: shownErrors([...before, ...failures]),
  nextDeliveryTime: end === undefined && failures.length > 0 ? nextDeliveryAt : undefined,
});

export const shownInitial = (message: InitialRecord): ShownStep => ({
  stepName: 'init',
  stepType: 'Initial',
  callType: 'step',
  concurrent: 1,
  state: 'STEP_SUCCESS',
  out: message.payload,
  ...common(message),
});

function detailsOf(message: PendingRecord): Partial<ShownStep> {
  switch (message.kind) {
    case 'call':
      return {
        callUrl: message.url,
        callMethod: message.method,
        callHeaders: shownHeaders(message.headers),
        callBody: message.body,
        callResponseStatus: message.response?.status,
        callResponseBody: message.response?.body,
        callResponseHeaders: message.response && shownHeaders(message.response.headers),
      };
    case 'wait':
      return {
        waitEventId: message.eventId,
        waitTimeoutDuration: message.timeout,
        waitTimeoutDeadline: message.deadline,
      };
    case 'invoke':
      return {
        invokedWorkflowRunId: message.runId,
        invokedWorkflowUrl: message.url,
        invokedWorkflowCreatedAt: message.startedAt,
        invokedWorkflowRunBody: message.body,
        invokedWorkflowRunHeaders: shownHeaders(message.headers),
      };
    default:
      return message satisfies never;
  }
}

/** The history that decides about a pending step: a call's own until the message with the answer exists. */
const decisive = (message: PendingRecord): History =>
  message.kind === 'call' ? (message.callback ?? message) : message;

export function shownPending(message: PendingRecord, before: readonly FailedAttempt[]): ShownStep {
  const history = decisive(message);
  // A call's last answer, even an error, is its result. Only the message that brings the answer can fail.
  const state = stateOfHistory(message === history && history.end === 'FAILED' ? { failures: [] } : history);
  return {
    ...message.step,
    callType: message.kind === 'call' ? (message.callback ? 'fromCallback' : 'toCallback') : 'step',
    state,
    ...common(message),
    ...detailsOf(message),
    ...historyFields([...before, ...(message === history ? [] : message.failures)], history),
  };
}

export const shownPlan = (message: PlanRecord): ShownStep => ({
  ...message.step,
  callType: 'step',
  state: stateOfHistory(message),
  ...common(message),
  sleepFor: message.sleepFor,
  sleepUntil: message.sleepUntil,
  ...historyFields([], message),
});

/**
 * @param began the message that began the step, if any
 * @param failures failed attempts before it ended
 */
export const shownResult = (
  message: ResultRecord,
  began: PendingRecord | undefined,
  state: StepState,
  failures: readonly FailedAttempt[],
): ShownStep => ({
  ...message.step,
  callType: began?.kind === 'call' ? 'fromCallback' : 'step',
  state,
  out: message.out,
  ...common(message),
  sleepFor: message.sleepFor,
  sleepUntil: message.sleepUntil,
  ...(began && detailsOf(began)),
  ...(message.waitEventId !== undefined && { waitEventId: message.waitEventId }),
  waitTimeout: message.waitTimeout,
  errors: shownErrors(failures),
});
