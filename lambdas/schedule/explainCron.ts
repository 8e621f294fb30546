import type { Answer, explainedCron } from '../wire/answers.ts';
import { now } from '../shared/clock.ts';
import { fires, parseCron, type Cron } from './cron.ts';

/** The number of next fires that are shown. */
const shownFires = 5;

/** Says in words when an expression fires; the times are those of its zone. */
export async function inWords({ fields, schedulerExpressions }: Cron): Promise<string> {
  // Few functions need the library, so a cold start does not load it.
  const { default: words } = await import('cronstrue');
  const when = words.toString(fields, { use24HourTimeFormat: true });
  // There are two expressions where both a day of month and a day of week are named.
  return `${when}${schedulerExpressions.length > 1 ? ' (either day is enough)' : ''}.`;
}

/**
 * Says in words when an expression fires, and when it fires next.
 *
 * @throws HttpError 400 as for `Svc-Cron`
 */
export async function explainCron(given: string): Promise<Answer<typeof explainedCron>> {
  const cron = parseCron('expression', given);
  return {
    cron: cron.text,
    timezone: cron.timezone,
    description: await inWords(cron),
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
