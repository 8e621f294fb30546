/** The stand-in for EventBridge rules with a rate. Invokes a function at regular intervals. */
import { timers, type TimedFunction } from '../../lambdas/aws/resources.ts';
import { aborted } from './eventSource.ts';
import { loadFunction, type LambdaFunction } from './lambda.ts';

interface Timer {
  /** Stops. Resolves when the invocation in flight has ended, or `signal` aborts. */
  readonly stop: (signal: AbortSignal) => Promise<void>;
}

interface TimerOptions {
  readonly function: LambdaFunction;
  /** In real time, not by the test clock. */
  readonly everyMs: number;
  readonly report: (error: unknown) => void;
}

/**
 * Starts a timer. Unlike EventBridge, it invokes the function immediately, because a stage on a laptop may
 * not run until the next interval.
 */
export function startTimer({ function: timed, everyMs, report }: TimerOptions): Timer {
  let invocation: Promise<void> | undefined;
  const invoke = (): void => {
    // If the last invocation is still running, there is no other.
    invocation ??= timed
      .invoke({})
      .then(() => undefined, report)
      .finally(() => {
        invocation = undefined;
      });
  };
  invoke();
  const interval = setInterval(invoke, everyMs).unref();
  return {
    stop: async (signal) => {
      clearInterval(interval);
      await Promise.race([invocation, aborted(signal)]);
    },
  };
}

export interface Timed {
  readonly name: TimedFunction;
  readonly everyMs: number;
  readonly function: LambdaFunction;
}

/** Loads the functions that are invoked at intervals. */
export function loadTimed(region: string, load = loadFunction): Promise<readonly Timed[]> {
  const names: readonly TimedFunction[] = ['countOutcomes', 'redrive', 'lookForAlarms'];
  return Promise.all(
    names.map(async (name) => {
      const { everyMinutes, functionTimeoutSeconds } = timers[name];
      const timed = await load(name, { region, timeoutMs: functionTimeoutSeconds * 1000 });
      return { name, everyMs: everyMinutes * 60 * 1000, function: timed };
    }),
  );
}

export function startTimers(timed: readonly Timed[], report: (error: unknown) => void): Timer[] {
  return timed.map((one) => startTimer({ ...one, report }));
}
