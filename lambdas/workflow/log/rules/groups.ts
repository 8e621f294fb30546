/**
 * The steps of a run in groups, in order. A sequential step is a group; a parallel group has an item for each
 * branch. The last group, `next`, is a delivery whose step has not been submitted yet.
 */
import { hasEnded } from '../../run.ts';
import type { Answer } from '../../../wire/answers.ts';
import type { RunState, StepState } from '../../../wire/states.ts';
import type { nextStep, stepGroup } from '../../../wire/workflowAnswers.ts';
import type { FailedAttempt, History, RunMessage, ShownStep } from './runMessage.ts';

type StepGroup = Answer<typeof stepGroup>;
type NextStep = Answer<typeof nextStep>;

interface StepMessages {
  readonly stepId: number;
  readonly plan?: RunMessage;
  /** The message that began the step, if its result comes from elsewhere (a call, wait or invoke). */
  readonly pending?: RunMessage;
  readonly result?: RunMessage;
}

/**
 * Groups messages by step. If a step has several messages of a kind, the later ones are repetitions, and
 * ignored.
 */
function byStep(messages: readonly RunMessage[]): readonly StepMessages[] {
  const steps = new Map<number, StepMessages>();
  for (const message of messages) {
    const { stepId } = message.step;
    if (stepId === undefined) continue;
    const before = steps.get(stepId) ?? { stepId };
    if (message.kind === 'plan') steps.set(stepId, { plan: message, ...before });
    else if (message.kind === 'result') steps.set(stepId, { result: message, ...before });
    else steps.set(stepId, { pending: message, ...before });
  }
  return [...steps.values()].toSorted((one, other) => one.stepId - other.stepId);
}

const branchesOf = ({ plan, pending, result }: StepMessages): number =>
  (result ?? pending ?? plan)?.step.concurrent ?? 1;

/** Splits steps into groups of the sizes that their plans name. */
function grouped(steps: readonly StepMessages[]): readonly (readonly StepMessages[])[] {
  const groups: StepMessages[][] = [];
  let missing = 0;
  for (const step of steps) {
    const last = groups.at(-1);
    if (last !== undefined && missing > 0) {
      last.push(step);
      missing -= 1;
    } else {
      groups.push([step]);
      missing = branchesOf(step) - 1;
    }
  }
  return groups;
}

/**
 * Finds the delivery in which the endpoint runs the step after a group. After a parallel group, this is the
 * delivery of the result that was accepted last, because only its list has all branches.
 *
 * @returns undefined until the group has finished
 */
function carrierOf(group: readonly StepMessages[], messages: readonly RunMessage[]): RunMessage | undefined {
  const results = new Set(group.flatMap(({ result }) => result ?? []));
  if (results.size < Math.max(...group.map(branchesOf))) return undefined;
  return messages.findLast((message) => results.has(message));
}

const isSleep = ({ step }: RunMessage): boolean =>
  step.stepType === 'SleepFor' || step.stepType === 'SleepUntil';

/** The result of a sleep is recorded when the sleep begins, and delivered when it ends. */
function stateOfSleep(message: RunMessage, at: number): StepState | undefined {
  if (!isSleep(message) || message.failures.length > 0) return undefined;
  const { end, nextDeliveryAt } = message;
  // The delivery that ended the sleep may also have ended the run, and its outcome is recorded later.
  const isOver = nextDeliveryAt !== undefined && nextDeliveryAt <= at;
  if (end === 'CANCELED') return isOver ? undefined : 'STEP_CANCELED';
  return end === undefined && !isOver ? 'STEP_PROGRESS' : undefined;
}

function stateOfHistory({ end, failures }: History): Exclude<StepState, 'STEP_SUCCESS'> {
  if (end === 'FAILED') return 'STEP_FAILED';
  if (end === 'CANCELED') return 'STEP_CANCELED';
  return failures.length > 0 && end === undefined ? 'STEP_RETRY' : 'STEP_PROGRESS';
}

const shownErrors = (failures: readonly FailedAttempt[]): ShownStep['errors'] =>
  failures.length === 0 ? undefined : failures;

/** @param before failed attempts that are not in the history because they are older */
const historyFields = (before: readonly FailedAttempt[], { failures, end, nextDeliveryAt }: History) => ({
  errors: shownErrors([...before, ...failures]),
  nextDeliveryTime: end === undefined && failures.length > 0 ? nextDeliveryAt : undefined,
});

function shownPending(message: RunMessage, before: readonly FailedAttempt[]): ShownStep {
  // Until the message with the answer exists, the history of the call itself decides.
  const history = message.callback ?? message;
  // The last answer of a call is its result, even if it is an error. Only the message that brings the answer
  // can fail.
  const state = stateOfHistory(message === history && history.end === 'FAILED' ? { failures: [] } : history);
  return {
    ...message.step,
    ...message.details,
    state,
    ...historyFields([...before, ...(message === history ? [] : message.failures)], history),
  };
}

/** @param brought for a group of one step, the delivery in which the endpoint ran it */
function shownStep(
  { plan, pending, result }: StepMessages,
  brought: RunMessage | undefined,
  carriers: ReadonlySet<RunMessage>,
  at: number,
): ShownStep | undefined {
  const before = [...(brought?.failures ?? []), ...(plan?.failures ?? [])];
  if (result === undefined) {
    if (pending !== undefined) return shownPending(pending, before);
    return plan && { ...plan.step, state: stateOfHistory(plan), ...historyFields([], plan) };
  }
  // A failed delivery is shown in the group `next`, or in the step that it runs later.
  const own = carriers.has(result) ? undefined : result;
  const ended = own?.end === 'FAILED' ? 'STEP_FAILED' : 'STEP_SUCCESS';
  return {
    ...result.step,
    callType: pending?.kind === 'call' ? 'fromCallback' : 'step',
    state: stateOfSleep(result, at) ?? ended,
    ...pending?.details,
    ...result.details,
    errors: shownErrors([...before, ...(pending?.failures ?? []), ...(own?.failures ?? [])]),
  };
}

const nextOf = (
  carrier: RunMessage,
  stepNameHeader: string,
  failure: FailedAttempt | undefined,
): NextStep => ({
  messageId: carrier.step.messageId,
  state: failure === undefined ? stateOfHistory(carrier) : 'STEP_FAILED',
  retries: carrier.step.retries,
  retryDelay: carrier.step.retryDelay,
  stepName: carrier.failures.at(-1)?.headers[stepNameHeader]?.[0],
  nextDeliveryTime: carrier.end === undefined ? carrier.nextDeliveryAt : undefined,
  errors: shownErrors([...carrier.failures, ...(failure === undefined ? [] : [failure])]),
});

/** Messages of an ended run are not updated. The log shows them as cancelled. */
function settled(message: RunMessage): RunMessage {
  const ended = <T extends History>(history: T): T => ({ ...history, end: history.end ?? 'CANCELED' });
  return { ...ended(message), callback: message.callback && ended(message.callback) };
}

/**
 * Groups a run's steps for the log. There is no group `next` if the last delivery succeeded and no step
 * followed.
 *
 * @param failure the failure that ended the run, if it is not of a message: a request of the endpoint was
 * refused
 * @param stepNameHeader the header in which an answer names the step whose function threw, as the log shows
 * it
 * @param at now, or when the run ended:
 */
export function stepGroups(
  state: RunState,
  all: readonly RunMessage[],
  failure: FailedAttempt | undefined,
  stepNameHeader: string,
  at: number,
): readonly StepGroup[] {
  const messages = hasEnded(state) ? all.map(settled) : all;
  const initial = messages.find((message) => message.kind === 'initial');
  if (initial === undefined) return [];
  const groups = grouped(byStep(messages));
  const carriers = [initial, ...groups.map((group) => carrierOf(group, messages))];
  const known = new Set(carriers.filter((carrier) => carrier !== undefined));

  const shown = groups.flatMap((group, index): readonly StepGroup[] => {
    const [first] = group;
    const isParallel = first !== undefined && branchesOf(first) > 1;
    const brought = isParallel ? undefined : carriers[index];
    const steps = group.flatMap((step) => shownStep(step, brought, known, at) ?? []);
    const [only] = steps;
    if (only === undefined) return [];
    return [isParallel ? { type: 'parallel', steps } : { type: 'sequential', steps: [only] }];
  });

  const carrier = carriers.at(-1);
  const isNext =
    carrier !== undefined &&
    state !== 'RUN_SUCCESS' &&
    (failure !== undefined || (carrier.end !== 'DELIVERED' && stateOfSleep(carrier, at) === undefined));
  const next: readonly StepGroup[] = isNext
    ? [{ type: 'next', steps: [nextOf(carrier, stepNameHeader, failure)] }]
    : [];
  return [{ type: 'sequential', steps: [initial.step] }, ...shown, ...next];
}
