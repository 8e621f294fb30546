/** The functions that run at fixed times. */
import { timers, type TimedFunction } from '../../lambdas/aws/resources.ts';
import { loadFunction, type LambdaFunction } from '../lambda/lambda.ts';
import { startTimer, type Timer } from '../lambda/timer.ts';

interface Timed {
  readonly everyMs: number;
  readonly function: LambdaFunction;
}

export function loadTimed(region: string, load = loadFunction): Promise<readonly Timed[]> {
  const names: readonly TimedFunction[] = ['countOutcomes', 'redrive', 'lookForAlarms'];
  return Promise.all(
    names.map(async (name) => {
      const { everyMinutes, functionTimeoutSeconds } = timers[name];
      const timed = await load(name, { region, timeoutMs: functionTimeoutSeconds * 1000 });
      return { everyMs: everyMinutes * 60 * 1000, function: timed };
    }),
  );
}

export function startTimers(timed: readonly Timed[], report: (error: unknown) => void): Timer[] {
  return timed.map((one) => startTimer({ ...one, report }));
}
