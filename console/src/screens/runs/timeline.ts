/** The times of a run's steps. */
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { nextStep, runStep, workflowRun } from '../../../../lambdas/wire/workflowAnswers.ts';

export type Run = Answer<typeof workflowRun>;
/** A step, or the delivery that asks for the next one. */
export type Step = Partial<Answer<typeof runStep>> & Answer<typeof nextStep>;

export interface Bar {
  /** The step's name in the address. */
  readonly key: string;
  readonly step: Step;
  /** Unix milliseconds. */
  readonly from: number;
  readonly until: number;
}

/** One step, or the branches of a parallel group. */
export type Bars = readonly Bar[];

/**
 * Computes when each step began and ended. The log says when a step's result was recorded; so a step begins with the end of those
 * before it. A sleep that is not in a group is recorded when it begins.
 *
 * @param now Unix milliseconds: the end of the bars that go on
 */
export function timelineOf(run: Run, now: number): readonly Bars[] {
  const end = Math.max(run.workflowRunCompletedAt ?? now, run.workflowRunCreatedAt);
  let from = run.workflowRunCreatedAt;
  return run.steps.flatMap((group): readonly Bars[] => {
    const bars = group.steps.flatMap((step: Step): Bars => {
      if (step.stepType === 'Initial') return [];
      const until = Math.min(end, Math.max(from, endOf(step, group.type) ?? end));
      return [{ key: String(step.stepId ?? 'next'), step, from, until }];
    });
    from = Math.max(from, ...bars.map(({ until }) => until));
    return bars.length === 0 ? [] : [bars];
  });
}

/** @returns undefined for a step without a result */
function endOf(step: Step, type: Run['steps'][number]['type']): number | undefined {
  const { state, createdAt, sleepUntil, sleepFor } = step;
  if (state !== 'STEP_SUCCESS' || createdAt === undefined) return undefined;
  return type === 'parallel' ? createdAt : (sleepUntil ?? createdAt + (sleepFor ?? 0));
}

/** The part of a bar in which a step waits for its next attempt. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

/** Finds the pauses of a step that is retried: from each failure on until the next attempt's, or until its end. */
export function pausesOf({ step: { errors = [] }, from, until }: Bar): readonly Pause[] {
  const failures = errors.map(({ time }) => time).filter((time) => time >= from && time < until);
  return failures.map((time, index) => ({ from: time, until: failures[index + 1] ?? until }));
}

/** The word for a step that goes on. */
export function doingOfStep({ stepType: type, state }: Step): string {
  if (state === 'STEP_RETRY') return 'retrying';
  if (type?.startsWith('Sleep') === true) return 'sleeping';
  return type?.startsWith('Wait') === true ? 'waiting for an event' : 'running';
}

/** The words for a run that goes on, by what its steps do; undefined for one that has ended. @param now Unix milliseconds */
export function doingOf(
  { workflowState, steps, hanging }: Pick<Run, 'workflowState' | 'steps' | 'hanging'>,
  now: number,
): string | undefined {
  if (workflowState !== 'RUN_STARTED') return undefined;
  if (hanging !== undefined) return 'hanging';
  const open = steps
    .flatMap((group): readonly Step[] => group.steps)
    .filter(({ stepType, state, nextDeliveryTime = 0 }) => {
      // The delivery that ends a sleep is held back until then: the sleep tells it.
      const isHeldBack = stepType === undefined && state === 'STEP_PROGRESS' && nextDeliveryTime > now;
      return /PROGRESS|RETRY/.test(state) && !isHeldBack;
    });
  if (open.length === 0) return 'running';
  const doings: readonly string[] = open.map(doingOfStep);
  // A branch that computes, or is retried, tells more than one that waits.
  return ['retrying', 'running', 'waiting for an event', 'sleeping'].find((one) => doings.includes(one));
}

/** Whether the answer to a call was none, or an error: its step has succeeded all the same, because the answer is its result. */
const isRefused = ({ callResponseStatus: status }: Step): boolean =>
  status !== undefined && (status === 0 || status >= 400);

/** The state of a step in a row: its words, and the state whose colour it has. */
export interface ShownState {
  readonly state: string;
  readonly name?: string;
}

/** Tells how a step is doing. A call is shown by its answer, and a step of another run by that run. */
export function stateOfStep(step: Step): ShownState {
  const { state, kept, callResponseStatus: status } = step;
  if (kept === true) return { state: 'KEPT', name: 'kept' };
  if (state === 'STEP_PROGRESS') return { state, name: doingOfStep(step).replace(' for an event', '') };
  if (state !== 'STEP_SUCCESS' || !isRefused(step)) return { state };
  return { state: 'FAILED', name: status === 0 ? 'no answer' : `answered ${status}` };
}

/** Says what an active step waits for, and until when. */
export interface Awaited {
  readonly what: string;
  /** Unix milliseconds; undefined where it may last. */
  readonly until?: number | undefined;
}

/** @returns undefined for a step that does not wait */
export function awaitedBy(step: Step): Awaited | undefined {
  const { state, stepType: type = '', createdAt = 0 } = step;
  if (state === 'STEP_RETRY') return { what: 'the next attempt', until: step.nextDeliveryTime };
  if (state !== 'STEP_PROGRESS') return undefined;
  if (type.startsWith('Sleep'))
    return { what: 'the end of its sleep', until: step.sleepUntil ?? createdAt + (step.sleepFor ?? 0) };
  if (step.waitEventId !== undefined)
    return { what: `the event ${step.waitEventId}`, until: step.waitTimeoutDeadline };
  if (step.callUrl !== undefined) return { what: `the answer of ${step.callUrl}` };
  if (step.invokedWorkflowRunId !== undefined) return { what: `the run ${step.invokedWorkflowRunId}` };
  return undefined;
}
