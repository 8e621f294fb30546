import { fitting } from '../wire/answerSize.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { bodyRecord } from '../message/records.ts';
import { parseScheduleSettings } from './scheduleSettings.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { headerName, headerText } from '../shared/headers.ts';
import { parseRedaction, type Redaction } from '../options/redaction.ts';
import { nextFire, parseCron } from './cron.ts';
import { inWords } from './explainCron.ts';
import { loadBody } from '../message/bodies.ts';
import { schedulesBehind } from './rows.ts';
import type { StoredSchedule } from './schedule.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { catchUpOf } from './firing.ts';
import { loadWholeSchedule } from './wholeSchedule.ts';
import { lastStates } from './lastFires.ts';

async function recordWithoutBody(
  schedule: StoredSchedule,
): Promise<Answer<typeof answers.scheduleWithoutBody>> {
  const { lastFire } = schedule;
  const cron = parseCron(headerName(schedule.prefix, 'cron'), schedule.cron);
  return {
    scheduleId: schedule.scheduleId,
    cron: schedule.cron,
    cronInWords: await inWords(cron),
    timezone: cron.timezone,
    createdAt: schedule.createdAt,
    destination: shownUrl(schedule.destination),
    ...parseScheduleSettings(schedule.view),
    catchUp: catchUpOf(schedule),
    isPaused: schedule.isPaused,
    lastScheduleTime: lastFire?.time,
    nextScheduleTime: schedule.isPaused ? undefined : nextFire(cron, now()),
    lastScheduleStates: await lastStates(schedule),
  };
}

function redactionOf({ config }: StoredSchedule): Redaction | undefined {
  const redacts = config.get('redact-fields')?.[0];
  return redacts === undefined ? undefined : parseRedaction('Svc-Redact-Fields', headerText(redacts));
}

/** @throws HttpError 404, or 503 if other requests replace it again and again */
export async function getSchedule(
  account: Account,
  scheduleId: string,
): Promise<Answer<typeof answers.schedule>> {
  const { schedule, body } = await loadWholeSchedule(account, scheduleId);
  const record = await recordWithoutBody(schedule);
  return fitting((bodies) => ({ ...record, ...bodyRecord(body, redactionOf(schedule), bodies) }));
}

/**
 * The largest body that lists show, in bytes. Many must fit into an answer, and bodies in the bucket are not
 * read.
 */
const longestListedBytes = 9 * 1_024;

async function listedRecord(schedule: StoredSchedule): Promise<Answer<typeof answers.schedule>> {
  const record = await recordWithoutBody(schedule);
  if (schedule.body.at === 'bucket') return record;
  const body = await loadBody(schedule.saveId, schedule.body);
  return body.length > longestListedBytes
    ? record
    : { ...record, ...bodyRecord(body, redactionOf(schedule)) };
}

async function* schedulesWith(
  accountId: string,
  search: string,
  behind: string | undefined,
): AsyncGenerator<StoredSchedule> {
  const wanted = search.toLowerCase();
  for await (const schedule of schedulesBehind(accountId, behind)) {
    const { scheduleId, destination } = schedule;
    if (`${scheduleId} ${shownUrl(destination)}`.toLowerCase().includes(wanted)) yield schedule;
  }
}

/**
 * @param search a part of ids or destinations; case is ignored
 * @throws HttpError 400 for an invalid cursor
 */
export const listSchedules = (
  account: Account,
  search: string | undefined,
  cursor: string | undefined,
): Promise<ShownPage<Answer<typeof answers.schedule>>> =>
  showByName(
    `${account.id}/schedules/${search ?? ''}`,
    cursor,
    (behind) => schedulesWith(account.id, search ?? '', behind),
    ({ scheduleId }) => scheduleId,
    listedRecord,
  );
