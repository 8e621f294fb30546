import { randomUUID } from 'node:crypto';
import { limitsOf, type Account } from '../domain/account.ts';
import * as z from 'zod/mini';
import { now, secondMs } from '../domain/clock.ts';
import { nextFire, parseCron, type Cron } from '../domain/cron.ts';
import { parseDestination } from '../domain/destination.ts';
import { ConfigReader, headerName } from '../domain/dialect.ts';
import { passedOn } from '../domain/forwarding.ts';
import { badRequest, HttpError, notFound, overLimit, quote } from '../domain/httpError.ts';
import { newId } from '../domain/ids.ts';
import { eachOf } from '../domain/lists.ts';
import { parseName } from '../domain/names.ts';
import { parsePublishOptions } from '../domain/options.ts';
import { bodyRecord, settingsRecord } from '../domain/records.ts';
import { parseRedaction } from '../domain/redaction.ts';
import { formatNotice, schedulerName, type FireNotice, type Schedule } from '../domain/schedule.ts';
import { deleteBody, loadBody, storeBody } from '../stores/bodies.ts';
import { loadMessage } from '../stores/messages.ts';
import {
  deleteSchedule as deleteStored,
  listSchedules as listStored,
  loadSchedule,
  saveSchedule,
  setPaused,
  type StoredSchedule,
} from '../stores/schedules.ts';
import { log } from '../transport/log.ts';
import { scheduledTimeKeyword, sendRepeatedly, unschedule } from '../transport/scheduler.ts';
import { destinationRules } from './destinations.ts';
import { prepare, withQuery, type PublishRequest } from './publish.ts';
import { ensureQueue } from './queues.ts';

/** What a schedule publishes, and when: a publish with a cron expression. */
export type ScheduleRequest = PublishRequest;

const noSuchSchedule = (scheduleId: string): HttpError =>
  notFound(`There is no schedule ${quote(scheduleId)}.`);

function readCron(reader: ConfigReader): Cron {
  const cron = reader.read('cron', parseCron);
  if (cron === undefined) {
    throw badRequest(
      `${reader.field('cron')} is missing; allowed is a cron expression such as "*/5 * * * *".`,
    );
  }
  return cron;
}

async function checkRoom(account: Account): Promise<void> {
  const { max_schedules: most } = limitsOf(account);
  const schedules = await listStored(account.id);
  if (schedules.length >= most) {
    throw overLimit(
      `The schedule would be number ${schedules.length + 1}, but the account's limit max_schedules is ${most}.`,
    );
  }
}

/** How often a save is made anew on the outcome of another. */
const tries = 5;

/**
 * Creates a schedule, or puts it in the place of one with the same id.
 *
 * What fires the new one is made first, then its row is written, which is the moment from which it counts; fires of any
 * other save than the row's are ignored. So whichever step fails, the old schedule or the new one is there, whole.
 *
 * @throws HttpError 400, 403, 404, 412 or 503; nothing is changed then
 */
export async function createSchedule(
  account: Account,
  request: ScheduleRequest,
): Promise<{ readonly scheduleId: string }> {
  const { prefix, config } = request;
  const reader = new ConfigReader(prefix, config);
  const cron = readCron(reader);
  const scheduleId = reader.read('schedule-id', parseName) ?? newId('scd', now());
  // What cannot be published is not scheduled.
  await prepare(account, request);
  const view = viewOf(account, request);

  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = await loadSchedule(account.id, scheduleId);
    if (before === undefined) await checkRoom(account);
    await ensureQueue(account, request.queueName);
    const saveId = newId('scd', now());
    const { otherHeaders, callerIp, body } = request;
    const kept = { accountId: account.id, messageId: saveId, expiresAt: Infinity };
    const schedule: StoredSchedule = {
      accountId: account.id,
      scheduleId,
      saveId,
      seed: before?.seed ?? randomUUID(),
      cron: cron.text,
      ...destinationOf(request),
      prefix,
      config,
      // Nothing is kept that would not go on, the request's token above all.
      otherHeaders: forwardsAll(reader)
        ? passedOn(otherHeaders)
        : otherHeaders.filter(([name]) => name === 'content-type'),
      queueName: request.queueName,
      view,
      callerIp,
      createdAt: before?.createdAt ?? now(),
      isPaused: before?.isPaused ?? false,
      lastFire: before?.lastFire,
      body: await storeBody(kept, body, now()),
    };
    await startFiring(schedule, cron);
    if (await saveSchedule(schedule, before?.saveId)) {
      if (before !== undefined) await stopFiring(before);
      return { scheduleId };
    }
    await stopFiring(schedule);
  }
  throw new HttpError(
    503,
    `The schedule ${quote(scheduleId)} is being changed by many at once; send it again.`,
  );
}

/** The destination as it is shown and published to. Query parameters belong to a URL; a group's go to its endpoints. */
function destinationOf({
  destination,
  otherQuery,
}: ScheduleRequest): Pick<Schedule, 'destination' | 'otherQuery'> {
  const parsed = parseDestination(destination);
  return parsed.kind === 'url'
    ? { destination: withQuery(parsed.url, otherQuery), otherQuery: [] }
    : { destination: parsed.name, otherQuery };
}

const forwardsAll = (reader: ConfigReader): boolean => /^true$/i.test(reader.single('header-forward') ?? '');

async function startFiring(schedule: Schedule, cron: Cron): Promise<void> {
  const { accountId, scheduleId, saveId } = schedule;
  const notice: FireNotice = { accountId, scheduleId, saveId, time: scheduledTimeKeyword };
  await Promise.all(
    cron.schedulerExpressions.map((expression, index) =>
      sendRepeatedly({
        name: schedulerName(saveId, index),
        expression,
        timezone: cron.timezone,
        input: formatNotice(notice),
      }),
    ),
  );
}

/**
 * Ends what fires a schedule that is not there any more, and its body. Should that fail, its next fire finds itself out
 * of date and tries again.
 */
export async function stopFiring({ scheduleId, saveId, cron, body }: StoredSchedule): Promise<void> {
  try {
    const { schedulerExpressions } = parseCron('Svc-Cron', cron);
    await Promise.all(schedulerExpressions.map((_, index) => unschedule(schedulerName(saveId, index))));
    await deleteBody(saveId, body);
  } catch (error) {
    log.warn('What fired a schedule could not be ended yet', {
      scheduleId,
      error: error instanceof Error ? error : String(error),
    });
  }
}

/** @throws HttpError 404 */
export async function deleteSchedule(account: Account, scheduleId: string): Promise<void> {
  const deleted = await deleteStored(account.id, scheduleId);
  if (deleted === undefined) throw noSuchSchedule(scheduleId);
  await stopFiring(deleted);
}

/**
 * Pauses a schedule, or lets it go on. While it is paused its triggers are ignored, and are not made up for.
 *
 * @throws HttpError 404
 */
export async function pauseSchedule(account: Account, scheduleId: string, isPaused: boolean): Promise<void> {
  if (!(await setPaused(account.id, scheduleId, isPaused))) throw noSuchSchedule(scheduleId);
}

type ScheduleState = 'IN_PROGRESS' | 'SUCCESS' | 'FAIL';

async function stateOf(accountId: string, messageId: string): Promise<ScheduleState | undefined> {
  const history = await loadMessage({ accountId, messageId });
  if (history === undefined) return undefined;
  if (history.end !== undefined) return 'FAIL';
  const last = history.attempts.at(-1)?.state;
  return last === 'DELIVERED' ? 'SUCCESS' : last === 'FAILED' ? 'FAIL' : 'IN_PROGRESS';
}

async function lastStates({
  accountId,
  lastFire,
}: Schedule): Promise<Record<string, ScheduleState> | undefined> {
  if (lastFire === undefined) return undefined;
  // A fire that made no message has none to tell of; its error stands for it.
  if (lastFire.error !== undefined) return { [lastFire.error]: 'FAIL' };
  const states: Record<string, ScheduleState> = {};
  await eachOf(lastFire.messageIds, statesAtOnce, async (messageId) => {
    const state = await stateOf(accountId, messageId);
    if (state !== undefined) states[messageId] = state;
  });
  return states;
}

const statesAtOnce = 10;

/** A schedule's settings as they are shown, read once: limits that change later do not make it unreadable. */
function viewOf(account: Account, request: ScheduleRequest): string {
  const time = now();
  const options = parsePublishOptions(request, account, destinationRules(request.host), time);
  const shown = settingsRecord({ ...options, url: '', queueName: request.queueName });
  const delayMs = options.notBefore - time;
  return JSON.stringify({
    ...shown,
    url: undefined,
    maxRetries: undefined,
    retries: options.maxRetries,
    delay: delayMs > 0 ? delayMs / secondMs : undefined,
    callback: options.callback?.url,
    failureCallback: options.failureCallback?.url,
    callerIP: request.callerIp,
    callerIp: request.callerIp,
  });
}

const viewShape = z.record(z.string(), z.unknown());

async function record(schedule: StoredSchedule) {
  const { body, saveId, lastFire } = schedule;
  const cron = parseCron(headerName(schedule.prefix, 'cron'), schedule.cron);
  const redacts = schedule.config.get('redact-fields')?.[0];
  const [states, bytes] = await Promise.all([lastStates(schedule), loadBody(saveId, body)]);
  return {
    scheduleId: schedule.scheduleId,
    cron: schedule.cron,
    createdAt: schedule.createdAt,
    destination: schedule.destination,
    ...viewShape.parse(JSON.parse(schedule.view)),
    ...bodyRecord(bytes, redacts === undefined ? undefined : parseRedaction('Svc-Redact-Fields', redacts)),
    isPaused: schedule.isPaused,
    lastScheduleTime: lastFire?.time,
    nextScheduleTime: schedule.isPaused ? undefined : nextFire(cron, now()),
    lastScheduleStates: states,
  };
}

/** @throws HttpError 404 */
export async function getSchedule(account: Account, scheduleId: string) {
  const schedule = await loadSchedule(account.id, scheduleId);
  if (schedule === undefined) throw noSuchSchedule(scheduleId);
  return record(schedule);
}

const recordsAtOnce = 10;

export async function listSchedules(account: Account) {
  const records: Awaited<ReturnType<typeof record>>[] = [];
  await eachOf(await listStored(account.id), recordsAtOnce, async (schedule, index) => {
    records[index] = await record(schedule);
  });
  return records;
}
