/**
 * The steps of a run in groups, in order. A sequential step is a group; a parallel group has an item for each branch. The last
 * group, `next`, is the delivery that will bring the next step.
 */
import { hasEnded } from '../../run.ts';
import { shownErrors, type FailedAttempt } from './errors.ts';
import type {
  History,
  InitialRecord,
  PendingRecord,
  PlanRecord,
  ResultRecord,
  RunMessage,
  RunRecord,
} from './runRecord.ts';
import {
  shownInitial,
  shownPending,
  shownPlan,
  shownResult,
  stateOfHistory,
  type ShownStep,
} from './shownStep.ts';
import type { Answer } from '../../../wire/answers.ts';
import type { StepState } from '../../../wire/states.ts';
import type { nextStep, stepGroup } from '../../../wire/workflowAnswers.ts';

export type StepGroup = Answer<typeof stepGroup>;
type NextStep = Answer<typeof nextStep>;

interface StepMessages {
  readonly stepId: number;
  readonly plan?: PlanRecord;
  readonly pending?: PendingRecord;
  readonly result?: ResultRecord;
}

/** Groups messages by step. Later messages of a kind are repetitions, and ignored. */
function byStep(messages: readonly RunMessage[]): readonly StepMessages[] {
  const steps = new Map<number, StepMessages>();
  for (const message of messages) {
    if (message.kind === 'initial') continue;
    const { stepId } = message.step;
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

type Carrier = InitialRecord | ResultRecord;

/**
 * Finds the delivery that brings the step after a group. For a parallel group, this is the delivery of the last accepted
 * result, because only its list has all branches.
 *
 * @returns undefined until the group has finished
 */
function carrierOf(
  group: readonly StepMessages[],
  messages: readonly RunMessage[],
): ResultRecord | undefined {
  const results = new Set<RunMessage>(group.flatMap(({ result }) => result ?? []));
  if (results.size < Math.max(...group.map(branchesOf))) return undefined;
  return messages.findLast(
    (message): message is ResultRecord => message.kind === 'result' && results.has(message),
  );
}

const isSleep = (message: Carrier): boolean =>
  message.kind === 'result' &&
  (message.step.stepType === 'SleepFor' || message.step.stepType === 'SleepUntil');

/** An unfinished sleep's result is recorded when it begins, and delivered later. */
function stateOfSleep(message: Carrier, at: number): StepState | undefined {
  if (!isSleep(message) || message.failures.length > 0) return undefined;
  const { end, nextDeliveryAt } = message;
  // The run may have ended in the delivery that ended the sleep, whose outcome is recorded later.
  const isOver = nextDeliveryAt !== undefined && nextDeliveryAt <= at;
  if (end === 'CANCELED') return isOver ? undefined : 'STEP_CANCELED';
  return end === undefined && !isOver ? 'STEP_PROGRESS' : undefined;
}

/** @param brought the delivery that brought the group, for a group of one step */
function shownStep(
  { plan, pending, result }: StepMessages,
  brought: Carrier | undefined,
  carriers: ReadonlySet<Carrier>,
  at: number,
): ShownStep | undefined {
  const before = [...(brought?.failures ?? []), ...(plan?.failures ?? [])];
  if (result !== undefined) {
    // The group `next` shows a failure of this delivery, and later the step that it brings.
    const own = carriers.has(result) ? undefined : result;
    const ended = own?.end === 'FAILED' ? 'STEP_FAILED' : 'STEP_SUCCESS';
    const failures = [...before, ...(pending?.failures ?? []), ...(own?.failures ?? [])];
    return shownResult(result, pending, stateOfSleep(result, at) ?? ended, failures);
  }
  if (pending !== undefined) return shownPending(pending, before);
  return plan && shownPlan(plan);
}

const nextOf = (
  carrier: Carrier,
  stepName: string | undefined,
  failure: FailedAttempt | undefined,
): NextStep => ({
  messageId: carrier.messageId,
  state: failure === undefined ? stateOfHistory(carrier) : 'STEP_FAILED',
  retries: carrier.maxRetries,
  retryDelay: carrier.retryDelay,
  stepName,
  nextDeliveryTime: carrier.end === undefined ? carrier.nextDeliveryAt : undefined,
  errors: shownErrors([...carrier.failures, ...(failure === undefined ? [] : [failure])]),
});

/** The messages of an ended run are not updated, but count as cancelled. */
function settled(message: RunMessage): RunMessage {
  const ended = <T extends History>(history: T): T => ({ ...history, end: history.end ?? 'CANCELED' });
  return message.kind === 'call' && message.callback !== undefined
    ? { ...ended(message), callback: ended(message.callback) }
    : ended(message);
}

/**
 * Groups a run's messages for the log. There is no group `next` if the last delivery succeeded and brought no step.
 *
 * @param stepNameOf names the step whose function threw in a delivery
 * @param at now or when the run ended, Unix milliseconds
 */
export function stepGroups(
  run: RunRecord,
  stepNameOf: (delivery: History) => string | undefined,
  at: number,
): readonly StepGroup[] {
  const messages = hasEnded(run.state) ? run.messages.map(settled) : run.messages;
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
    run.state !== 'RUN_SUCCESS' &&
    (run.failure !== undefined || (carrier.end !== 'DELIVERED' && stateOfSleep(carrier, at) === undefined));
  const next: readonly StepGroup[] = isNext
    ? [{ type: 'next', steps: [nextOf(carrier, stepNameOf(carrier), run.failure)] }]
    : [];
  return [{ type: 'sequential', steps: [shownInitial(initial)] }, ...shown, ...next];
}
