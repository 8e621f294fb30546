import { randomUUID } from 'node:crypto';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { canonicalize, ConfigReader } from '../request/dialect.ts';
import { configWithKnownCredentials, parsePublishOptions } from '../request/publishOptions.ts';
import { scheduleChange } from '../wire/requests.ts';
import { formatScheduleSettings, scheduleSettings } from './scheduleSettings.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { refuseWhileDraining } from '../account/draining.ts';
import { now } from '../shared/clock.ts';
import { configOverDefaults } from '../shared/config.ts';
import { parseDestination } from '../destination/destination.ts';
import { shownUrl, withKnownCredentials } from '../shared/urlCredentials.ts';
import { readHeaders, type Header } from '../shared/headers.ts';
import { badField, overLimit } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { parseShape } from '../shared/json.ts';
import { passedOn } from '../request/forwarding.ts';
import { parseName } from '../value/names.ts';
import { parseCron, type Cron } from './cron.ts';
import type { Schedule } from './schedule.ts';
import { settings } from '../aws/settings.ts';
import { storeBody } from '../message/bodies.ts';
import {
  deleteSchedule as deleteStored,
  listSchedules as listStored,
  loadSchedule,
  saveSchedule,
  setPaused,
  type StoredSchedule,
} from './rows.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { ensureKeys } from '../lane/ensureKeys.ts';
import { ensureQueue } from '../lane/queues.ts';
import { prepare, withQuery, type PublishRequest } from '../publish/prepare.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { startFiring, stopFiring } from './firing.ts';
import { bodyOf, changedByMany, noSuchSchedule } from './wholeSchedule.ts';

/** A request for a schedule: a publish that says when, with a cron expression. */
export type ScheduleRequest = Omit<PublishRequest, 'queueName' | 'fire'>;

function readCron(reader: ConfigReader): Cron {
  const cron = reader.read('cron', parseCron);
  if (cron === undefined) {
    throw badField(`${reader.field('cron')} is missing; allowed is a cron expression such as "*/5 * * * *".`);
  }
  return cron;
}

/** @throws HttpError 412 when the account has as many schedules as it may */
async function checkRoom(account: Account): Promise<void> {
  const { max_schedules: most } = limitsOf(account);
  const schedules = await listStored(account.id);
  if (schedules.length >= most) {
    throw overLimit(
      'schedule_limit_reached',
      `The schedule would be number ${schedules.length + 1}, but the account's limit max_schedules is ${most}.`,
    );
  }
}

/**
 * Creates a schedule, or replaces the one with the same id.
 *
 * @throws HttpError 400, 403, 404, 412 or 503; nothing is changed then
 */
export async function createSchedule(
  account: Account,
  request: ScheduleRequest,
): Promise<Answer<typeof answers.scheduled>> {
  const reader = new ConfigReader(request.prefix, request.config);
  const scheduleId = reader.read('schedule-id', parseName) ?? newId('scd', now());
  return save(account, scheduleId, () => request);
}

/** A request to change a schedule. */
export interface ChangeRequest {
  /** JSON: see `scheduleChange`. */
  readonly body: Uint8Array;
  /** The host of the service that the request was sent to. */
  readonly host: string;
}

/**
 * Changes what a request names of a schedule, and keeps the rest: also what answers do not show, such as a body that is
 * redacted, or the settings of callbacks.
 *
 * @throws HttpError 400, 403, 404, 412 or 503; nothing is changed then
 */
export async function changeSchedule(
  account: Account,
  scheduleId: string,
  { body, host }: ChangeRequest,
): Promise<Answer<typeof answers.scheduled>> {
  const allowed =
    '{"destination": "<URL or group>", "body": "<text>", "headers": {"Svc-Cron": "0 9 * * *", …}}';
  const change = parseShape('The body', body, scheduleChange, allowed);
  const headers = readHeaders('headers', change.headers ?? []);
  const given = canonicalize(headers, [], settings.headerPrefixes);
  const idField = new ConfigReader(given.prefix, given.config).field('schedule-id');
  if (given.config.has('schedule-id')) {
    throw badField(`headers.${idField} is given; allowed are all headers but this one: an id stays.`);
  }
  const isGiven = ([, values]: readonly [string, readonly string[]]): boolean =>
    values.some((value) => value !== '');

  return save(account, scheduleId, async (before) => {
    if (before === undefined) throw noSuchSchedule(scheduleId);
    const keptBody = change.body === undefined ? await bodyOf(before) : Buffer.from(change.body);
    if (keptBody === undefined) return undefined;
    const { destination = shownUrl(before.destination) } = change;
    const isSameDestination = destination === shownUrl(before.destination);
    const keptHeaders = before.otherHeaders.filter(
      ([name]) => !given.otherHeaders.some(([other]) => other === name),
    );
    return {
      prefix: before.prefix,
      config: new Map([...configOverDefaults(given.config, before.config)].filter(isGiven)),
      otherHeaders: [...keptHeaders, ...given.otherHeaders.filter(([, value]) => value !== '')],
      // They belong to the destination that they came with.
      otherQuery: isSameDestination ? before.otherQuery : [],
      destination: isSameDestination ? before.destination : destination,
      body: keptBody,
      callerIp: before.callerIp,
      host,
    };
  });
}

/**
 * Saves a schedule in the place of the one with its id, if there is one.
 *
 * Each save has an id of its own, and is made in this order: Scheduler fires it, its body is stored, its row is written.
 * It counts from its row on: a fire of any other save publishes nothing, and ends what is left of that save. So wherever
 * this fails, either the old schedule or the new one is there, whole, and nothing of the other outlives its next fire.
 *
 * @param requestOf makes the request whose schedule is saved, of the schedule that is there; undefined to read that again
 * @throws HttpError 400, 403, 404, 412 or 503; nothing is changed then
 */
function save(
  account: Account,
  scheduleId: string,
  requestOf: (
    before: StoredSchedule | undefined,
  ) => ScheduleRequest | undefined | Promise<ScheduleRequest | undefined>,
): Promise<Answer<typeof answers.scheduled>> {
  refuseWhileDraining(account);
  return retryOnConflict(changedByMany(scheduleId), async () => {
    const before = await loadSchedule(account.id, scheduleId);
    const request = await requestOf(before);
    if (request === undefined) return undefined;
    const { prefix, config, callerIp, body } = request;
    const reader = new ConfigReader(prefix, config);
    const cron = readCron(reader);
    const queueName = reader.read('queue-name', parseName);
    // A request that could not be published is not scheduled either.
    const { drafts } = await prepare(account, { ...request, queueName });
    const view = await settingsOf(account, { ...request, queueName });
    if (before === undefined) await checkRoom(account);
    await ensureQueue(account, queueName);
    // All messages of a fire name the same keys.
    for (const { message } of drafts.slice(0, 1)) await ensureKeys(message);
    const saveId = newId('scd', now());
    const kept = { accountId: account.id, messageId: saveId, expiresAt: Infinity };
    const unstored: Schedule = {
      accountId: account.id,
      scheduleId,
      saveId,
      seed: before?.seed ?? randomUUID(),
      cron: cron.text,
      ...destinationOf(request, before?.destination),
      prefix,
      config: configWithKnownCredentials(config, before?.config),
      otherHeaders: headersToKeep(request),
      queueName,
      view,
      callerIp,
      createdAt: before?.createdAt ?? now(),
      isPaused: before?.isPaused ?? false,
      lastFire: before?.lastFire,
    };
    await startFiring(unstored, cron);
    const schedule = { ...unstored, body: await storeBody(kept, body, now()) };
    const isOurs = await isSaved(schedule, before?.saveId);
    const leftOver = isOurs ? before : schedule;
    if (leftOver !== undefined) await stopFiring(leftOver);
    return isOurs ? { scheduleId } : undefined;
  });
}

/** The settings of a request, as the schedule's row keeps them. */
async function settingsOf(account: Account, request: PublishRequest): Promise<string> {
  const time = now();
  const options = parsePublishOptions(request, account, await destinationRules(request.host), time);
  return formatScheduleSettings(scheduleSettings(options, time, request));
}

/**
 * The destination to which a schedule publishes. Query parameters that are not the service's belong to a URL; a group's are
 * kept, and go to its endpoints.
 *
 * @param before the destination of the schedule that is replaced
 */
function destinationOf(
  { destination, otherQuery }: ScheduleRequest,
  before: string | undefined,
): Pick<Schedule, 'destination' | 'otherQuery'> {
  const parsed = parseDestination(destination);
  if (parsed.kind === 'group') return { destination: parsed.name, otherQuery };
  return { destination: withKnownCredentials(withQuery(parsed.url, otherQuery), before), otherQuery: [] };
}

/**
 * The request's headers that a schedule keeps: those that may be forwarded, never the token. A URL group may say in its
 * default headers that they are forwarded, and what it says counts at each fire: so for a group they are kept in any case.
 */
function headersToKeep({ prefix, config, destination, otherHeaders }: ScheduleRequest): readonly Header[] {
  const said = new ConfigReader(prefix, config).single('header-forward');
  const mayForward =
    said === undefined ? parseDestination(destination).kind === 'group' : /^true$/i.test(said);
  return mayForward ? passedOn(otherHeaders) : otherHeaders.filter(([name]) => name === 'content-type');
}

/**
 * Writes a schedule's row in the place of what was read.
 *
 * @returns false when somebody else was faster. A row of this very save is this call's own: the SDK sends a write again
 * when its answer is lost, and the second one is refused.
 */
const isSaved = async (schedule: StoredSchedule, readSaveId: string | undefined): Promise<boolean> =>
  (await saveSchedule(schedule, readSaveId)) ||
  (await loadSchedule(schedule.accountId, schedule.scheduleId))?.saveId === schedule.saveId;

/** @throws HttpError 404 */
export async function deleteSchedule(account: Account, scheduleId: string): Promise<void> {
  const deleted = await deleteStored(account.id, scheduleId);
  if (deleted === undefined) throw noSuchSchedule(scheduleId);
  await stopFiring(deleted);
}

/**
 * Pauses a schedule, or resumes it. Fires of a paused schedule publish nothing, and are not made up for later.
 *
 * @throws HttpError 404
 */
export async function pauseSchedule(account: Account, scheduleId: string, isPaused: boolean): Promise<void> {
  if (!(await setPaused(account.id, scheduleId, isPaused))) throw noSuchSchedule(scheduleId);
}
