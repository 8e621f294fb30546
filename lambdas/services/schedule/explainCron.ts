import type { Answer } from '../../api/answers.ts';
import type { explainedCron } from '../../api/answers.ts';
import { now } from '../../domain/clock.ts';
import { fires, parseCron } from '../../domain/schedule/cron.ts';

/** So many of the next fires are shown. */
const shownFires = 5;

/**
 * Says in words when an expression fires, and when it fires next.
 *
 * @throws HttpError 400 as for `Svc-Cron`
 */
export async function explainCron(given: string): Promise<Answer<typeof explainedCron>> {
  const cron = parseCron('expression', given);
  // Only this needs the library: a cold start does without it.
  const { default: words } = await import('cronstrue');
  return {
    cron: cron.text,
    timezone: cron.timezone,
    description: `${words.toString(cron.fields, { use24HourTimeFormat: true })}.`,
    nextFires: [...take(fires(cron, now()), shownFires)],
  };
}

function* take<T>(values: Iterable<T>, count: number): Generator<T, undefined> {
  let taken = 0;
  for (const value of values) {
    yield value;
    taken += 1;
    if (taken === count) return undefined;
  }
  return undefined;
}
