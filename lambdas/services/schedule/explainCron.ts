import type { Answer } from '../../api/answers.ts';
import type { explainedCron } from '../../api/answers.ts';
import { now } from '../../domain/clock.ts';
import { fires, parseCron } from '../../domain/schedule/cron.ts';
import { inWords } from '../../domain/schedule/cronWords.ts';

/** So many of the next fires are shown. */
const shownFires = 5;

/**
 * Says in words when an expression fires, and when it fires next.
 *
 * @throws HttpError 400 as for `Svc-Cron`
 */
export function explainCron(given: string): Answer<typeof explainedCron> {
  const cron = parseCron('expression', given);
  return {
    cron: cron.text,
    timezone: cron.timezone,
    description: inWords(cron.fields),
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
