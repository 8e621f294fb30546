import type cronstrue from 'cronstrue';
import type { Account } from '../account/account.ts';
import type { Answer } from '../wire/answers.ts';
import type { explainedCron, nextFires } from '../wire/cronAnswers.ts';
import { wholeOf } from '../wire/queryReader.ts';
import { now } from '../shared/clock.ts';
import { fires, parseCron, type Cron } from './cron.ts';
import { loadSchedule } from './rows.ts';
import { noSuchSchedule } from './wholeSchedule.ts';

const shownFires = 5;

/** Loaded on first use: few functions need it, and the import takes longer than the work. */
let library: Promise<typeof cronstrue> | undefined;
const said = new WeakMap<Cron, string>();

export async function inWords(cron: Cron): Promise<string> {
  const known = said.get(cron);
  if (known !== undefined) return known;
  library ??= import('cronstrue').then(({ default: words }) => words);
  const when = (await library).toString(cron.fields, { use24HourTimeFormat: true });
  // There are two expressions if a day of the month and a day of the week are given.
  const text = `${when}${cron.schedulerExpressions.length > 1 ? ' (either day is enough)' : ''}.`;
  said.set(cron, text);
  return text;
}

/** @throws HttpError 400 as `Svc-Cron` does */
export async function explainCron(given: string): Promise<Answer<typeof explainedCron>> {
  const cron = parseCron('expression', given);
  return {
    cron: cron.text,
    timezone: cron.timezone,
    description: await inWords(cron),
    nextFires: [...take(fires(cron, now()), shownFires)],
  };
}

const mostNext = 100;

/**
 * The next fires, also as times in the schedule's zone. A paused schedule skips them.
 *
 * @param countText 1 to 100; 10 by default
 * @throws HttpError 400 or 404
 */
export async function getNextFires(
  { id }: Account,
  scheduleId: string,
  countText: string | undefined,
): Promise<Answer<typeof nextFires>> {
  const count = countText === undefined ? 10 : wholeOf('count', countText, 1, mostNext);
  const schedule = await loadSchedule(id, scheduleId);
  if (schedule === undefined) throw noSuchSchedule(scheduleId);
  const cron = parseCron('Svc-Cron', schedule.cron);
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone: cron.timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return {
    timezone: cron.timezone,
    isPaused: schedule.isPaused,
    fires: [...take(fires(cron, now()), count)].map((time) => ({ time, local: local.format(time) })),
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
