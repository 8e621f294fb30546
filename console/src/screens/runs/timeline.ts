import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { nextStep, runStep, workflowRun } from '../../../../lambdas/wire/workflowAnswers.ts';

export type Run = Answer<typeof workflowRun>;
/** A step, or a delivery whose step is not known yet. */
export type Step = Partial<Answer<typeof runStep>> & Answer<typeof nextStep>;

export interface Bar extends Span {
  readonly key: string;
  readonly step: Step;
}

type Bars = readonly Bar[];

/**
 * Calculates when each step began and ended. The log has only the time of a result, so a step begins when the
 * one before it ends. A sleep outside of a group is recorded when it begins.
 *
 * @param now the end of unfinished bars
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

function endOf(step: Step, type: Run['steps'][number]['type']): number | undefined {
  const { state, createdAt, sleepUntil, sleepFor } = step;
  if (state !== 'STEP_SUCCESS' || createdAt === undefined) return undefined;
  return type === 'parallel' ? createdAt : (sleepUntil ?? createdAt + (sleepFor ?? 0));
}

export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Finds the pauses of a retried step, each from a failure to the next failure or the step's end. */
export function pausesOf({ step: { errors = [] }, from, until }: Bar): readonly Span[] {
  const failures = errors.map(({ time }) => time).filter((time) => time >= from && time < until);
  return failures.map((time, index) => ({ from: time, until: failures[index + 1] ?? until }));
}

function doingOfStep({ stepType: type, state }: Step): string {
  if (state === 'STEP_RETRY') return 'retrying';
  if (type?.startsWith('Sleep') === true) return 'sleeping';
  return type?.startsWith('Wait') === true ? 'waiting for an event' : 'running';
}

/** The activity of an active run, from its steps; undefined if it has ended. */
export function doingOf(
  { workflowState, steps, hanging }: Pick<Run, 'workflowState' | 'steps' | 'hanging'>,
  now: number,
): string | undefined {
  if (workflowState !== 'RUN_STARTED') return undefined;
  if (hanging !== undefined) return 'hanging';
  const open = steps
    .flatMap((group): readonly Step[] => group.steps)
    .filter(({ stepType, state, nextDeliveryTime = 0 }) => {
      // This delivery only waits for the end of a sleep, which is shown instead.
      const isHeldBack = stepType === undefined && state === 'STEP_PROGRESS' && nextDeliveryTime > now;
      return /PROGRESS|RETRY/.test(state) && !isHeldBack;
    });
  if (open.length === 0) return 'running';
  const doings: readonly string[] = open.map(doingOfStep);
  // Branches may do different things. The most important one is shown.
  return ['retrying', 'running', 'waiting for an event', 'sleeping'].find((one) => doings.includes(one));
}

/**
 * Whether a call got an error or no answer. The step has succeeded anyway, because the answer is its result.
 */
const isRefused = ({ callResponseStatus: status }: Step): boolean =>
  status !== undefined && (status === 0 || status >= 400);

/** The state of a step in words, and the state whose colour is used. */
interface ShownState {
  readonly state: string;
  readonly name?: string;
}

/** The state that is shown. A call has the state of its answer, and an invoke that of the invoked run. */
export function stateOfStep(step: Step): ShownState {
  const { state, kept, callResponseStatus: status } = step;
  if (kept === true) return { state: 'KEPT', name: 'kept' };
  if (state === 'STEP_PROGRESS') return { state, name: doingOfStep(step).replace(' for an event', '') };
  if (state !== 'STEP_SUCCESS' || !isRefused(step)) return { state };
  return { state: 'FAILED', name: status === 0 ? 'no answer' : `answered ${status}` };
}

interface Awaited {
  readonly what: string;
  /** Unix milliseconds; undefined if there is no limit. */
  readonly until?: number | undefined;
}

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
