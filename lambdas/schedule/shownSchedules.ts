import { fitting } from '../wire/answerSize.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { bodyRecord } from '../message/records.ts';
import { parseScheduleSettings } from './scheduleSettings.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { headerName } from '../shared/headers.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver } from '../message/message.ts';
import { parseRedaction, type Redaction } from '../options/redaction.ts';
import { nextFire, parseCron } from './cron.ts';
import type { Schedule } from './schedule.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage } from '../message/history.ts';
import { schedulesBehind, type StoredSchedule } from './rows.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { loadWholeSchedule } from './wholeSchedule.ts';

type States = NonNullable<Answer<typeof answers.schedule>['lastScheduleStates']>;
type State = States[string];

/** @returns undefined when the message's row has expired */
async function stateOf(accountId: string, messageId: string): Promise<State | undefined> {
  const history = await loadMessage({ accountId, messageId });
  if (history === undefined) return undefined;
  if (!isOver(history)) return 'IN_PROGRESS';
  return history.end === undefined && history.attempts.at(-1)?.state === 'DELIVERED' ? 'SUCCESS' : 'FAIL';
}

/** The messages of one fire whose states are read at once. */
const statesAtOnce = 10;

async function lastStates({ accountId, lastFire }: Schedule): Promise<States | undefined> {
  if (lastFire === undefined) return undefined;
  // A fire that made no message has no states: the reason stands in their place.
  if (lastFire.error !== undefined) return { [lastFire.error]: 'FAIL' };
  const states = new Map<string, State>();
  await eachOf(lastFire.messageIds, statesAtOnce, async (messageId) => {
    const state = await stateOf(accountId, messageId);
    if (state !== undefined) states.set(messageId, state);
  });
  return Object.fromEntries(states);
}

async function recordWithoutBody(
  schedule: StoredSchedule,
): Promise<Answer<typeof answers.scheduleWithoutBody>> {
  const { lastFire } = schedule;
  const cron = parseCron(headerName(schedule.prefix, 'cron'), schedule.cron);
  return {
    scheduleId: schedule.scheduleId,
    cron: schedule.cron,
    createdAt: schedule.createdAt,
    destination: shownUrl(schedule.destination),
    ...parseScheduleSettings(schedule.view),
    isPaused: schedule.isPaused,
    lastScheduleTime: lastFire?.time,
    nextScheduleTime: schedule.isPaused ? undefined : nextFire(cron, now()),
    lastScheduleStates: await lastStates(schedule),
  };
}

function redactionOf({ config }: StoredSchedule): Redaction | undefined {
  const redacts = config.get('redact-fields')?.[0];
  return redacts === undefined ? undefined : parseRedaction('Svc-Redact-Fields', redacts);
}

/** @throws HttpError 404, or 503 where it is replaced again and again */
export async function getSchedule(
  account: Account,
  scheduleId: string,
): Promise<Answer<typeof answers.schedule>> {
  const { schedule, body } = await loadWholeSchedule(account, scheduleId);
  const record = await recordWithoutBody(schedule);
  return fitting((bodies) => ({ ...record, ...bodyRecord(body, redactionOf(schedule), bodies) }));
}

/** The largest body, in bytes, that a list shows: a list must have room for many, and must not read the bucket for each. */
const longestListedBytes = 9 * 1_024;

async function listedRecord(schedule: StoredSchedule): Promise<Answer<typeof answers.schedule>> {
  const record = await recordWithoutBody(schedule);
  if (schedule.body.at === 'bucket') return record;
  const body = await loadBody(schedule.saveId, schedule.body);
  return body.length > longestListedBytes
    ? record
    : { ...record, ...bodyRecord(body, redactionOf(schedule)) };
}

/** @throws HttpError 400 for a cursor that this list did not hand out */
export const listSchedules = (
  account: Account,
  cursor: string | undefined,
): Promise<ShownPage<Answer<typeof answers.schedule>>> =>
  showByName(
    `${account.id}/schedules`,
    cursor,
    (behind) => schedulesBehind(account.id, behind),
    ({ scheduleId }) => scheduleId,
    listedRecord,
  );
