/** Flow-control keys in the API. `ensureKeys.ts` creates keys. */
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import type { KeyAnswer, ParallelismAnswer } from '../wire/laneAnswers.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { longestFlowControlKey } from '../shared/bounds.ts';
import { now, secondMs } from '../shared/clock.ts';
import { badField, notFound, overLimit, quote, type HttpError } from '../error/httpError.ts';
import { defaultPeriod, parseCount, parsePeriod } from '../value/flowControl.ts';
import { accountLane, isThere, keyLane, slotsInUse, waitingIn, type Lane, type LaneKey } from './lane.ts';
import { pinned, unpinned, forgetStarts, type Pins } from './rules/pins.ts';
import { depthsOf, type Depth } from './rules/depths.ts';
import { periodOf, recentStarts } from './rules/rate.ts';
import { whatWaits } from './line/oldest.ts';
import { listLanes, loadLane } from './store/laneRows.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { changeOrRefuse } from './slots/changeOrRefuse.ts';

const toSeconds = (ms: number): number => Math.floor(ms / secondMs);

/** Published clients require integers. 0 means that there is no limit, or that nothing has started. */
function flowControlRecord(lane: Lane, time: number): KeyAnswer {
  // `starts` also has future times: starts are counted before they are made.
  const starts = recentStarts(lane, time).filter(({ at }) => at <= time);
  const [oldest] = starts;
  return {
    flowControlKey: lane.name,
    waitListSize: waitingIn(lane),
    parallelismMax: lane.parallelism ?? 0,
    parallelismCount: slotsInUse(lane, time),
    rateMax: lane.rate ?? 0,
    rateCount: starts.reduce((sum, { count }) => sum + count, 0),
    ratePeriod: toSeconds(periodOf(lane)),
    ratePeriodStart: oldest === undefined ? 0 : toSeconds(oldest.at),
    isPaused: lane.isPaused,
    isPinnedParallelism: lane.isPinnedParallelism,
    isPinnedRate: lane.isPinnedRate,
  };
}

const noSuchKey = (key: string): HttpError =>
  notFound('flow_control_key_not_found', `There is no flow-control key ${quote(key)}.`);

/**
 * @param search a part of the names to list
 * @throws HttpError 400 for an invalid cursor
 */
export function listFlowControl(
  account: Account,
  search: string | undefined,
  cursor: string | undefined,
): Promise<ShownPage<KeyAnswer>> {
  const time = now();
  const isWanted = (key: string): boolean => search === undefined || key.includes(search);
  return showByName(
    `${account.id}/flowControl/${search ?? ''}`,
    cursor,
    (behind) => listLanes(account.id, 'key', { behind, isWanted }),
    ({ name }) => name,
    (lane) => flowControlRecord(lane, time),
  );
}

/** @throws HttpError 400 if the key is too long */
function laneOf(account: Account, key: string): LaneKey {
  if (key.length > longestFlowControlKey) {
    throw badField(`The key is ${quote(key)}; allowed are 1 to ${longestFlowControlKey} characters.`);
  }
  return keyLane(account.id, key);
}

export async function getFlowControl(account: Account, key: string): Promise<KeyAnswer> {
  const lane = await loadLane(laneOf(account, key));
  if (lane === undefined) throw noSuchKey(key);
  return { ...flowControlRecord(lane, now()), ...(await whatWaits(lane)) };
}

export async function depthsOfKey(account: Account, key: string): Promise<readonly Depth[]> {
  const lane = await loadLane(laneOf(account, key));
  if (lane === undefined) throw noSuchKey(key);
  return depthsOf(lane, now());
}

/** Reads an account's number of deliveries in flight, and its limit. */
export async function getGlobalParallelism(account: Account): Promise<ParallelismAnswer> {
  const lane = await loadLane(accountLane(account.id));
  return {
    parallelismMax: limitsOf(account).max_global_parallelism,
    parallelismCount: lane === undefined ? 0 : slotsInUse(lane, now()),
  };
}

const settingsOf = (lane: Lane): Values => ({
  ...{ parallelism: lane.parallelism, rate: lane.rate },
  period: lane.rate === undefined ? undefined : toSeconds(periodOf(lane)),
  ...{ isPaused: lane.isPaused, isPinnedParallelism: lane.isPinnedParallelism },
  isPinnedRate: lane.isPinnedRate,
});

/**
 * Changes an existing key.
 *
 * @throws HttpError 404 or 503
 */
async function changeKey(account: Account, key: string, change: (lane: Lane) => Lane): Promise<Changes> {
  const { before, after } = await changeOrRefuse(laneOf(account, key), (lane, updatedAt) => {
    if (!isThere(lane)) throw noSuchKey(key);
    return { ...change(lane), updatedAt };
  });
  return changesBetween(settingsOf(before), settingsOf(after));
}

export const pauseFlowControl = (account: Account, key: string): Promise<Changes> =>
  changeKey(account, key, (lane) => ({ ...lane, isPaused: true }));

export const resumeFlowControl = (account: Account, key: string): Promise<Changes> =>
  changeKey(account, key, (lane) => ({ ...lane, isPaused: false }));

/**
 * Forgets earlier starts, so that the full rate is available.
 *
 * @throws HttpError 404 or 503
 */
export const resetFlowControlRate = (account: Account, key: string): Promise<Changes> =>
  changeKey(account, key, forgetStarts);

/** Unparsed query parameters. */
interface PinRequest {
  readonly parallelism?: string;
  readonly rate?: string;
  readonly period?: string;
}

/**
 * Pins a key's limits: messages no longer change them.
 *
 * @throws HttpError 400, 404, 412 or 503
 */
export async function pinFlowControl(account: Account, key: string, request: PinRequest): Promise<Changes> {
  const pins = parsePins(request);
  const { max_parallelism: most } = limitsOf(account);
  if (pins.parallelism !== undefined && pins.parallelism > most) {
    throw overLimit(
      'parallelism_over_limit',
      `parallelism is ${pins.parallelism}, but the account's limit max_parallelism is ${most}.`,
    );
  }
  return changeKey(account, key, (lane) => pinned(lane, pins));
}

function parsePins({ parallelism, rate, period }: PinRequest): Pins {
  if (parallelism === undefined && rate === undefined) {
    throw badField(
      'parallelism and rate are missing; allowed is at least one of them, and a period with the rate.',
    );
  }
  const first = parallelism === undefined ? {} : { parallelism: parseCount('parallelism', parallelism) };
  if (rate === undefined) {
    if (period !== undefined) throw badField('period is given without rate; allowed is a period with it.');
    return first;
  }
  const seconds = period === undefined ? defaultPeriod : parsePeriod('period', period);
  return { ...first, rate: parseCount('rate', rate), periodMs: seconds * secondMs };
}

/**
 * Unpins a key's limits: messages change them again.
 *
 * @throws HttpError 400, 404 or 503
 */
export async function unpinFlowControl(
  account: Account,
  key: string,
  { parallelism, rate }: Pick<PinRequest, 'parallelism' | 'rate'>,
): Promise<Changes> {
  if (parallelism === undefined && rate === undefined) {
    throw badField('parallelism and rate are missing; allowed is true for what is to be unpinned.');
  }
  const pins = { parallelism: isTrue('parallelism', parallelism), rate: isTrue('rate', rate) };
  return changeKey(account, key, (lane) => unpinned(lane, pins));
}

function isTrue(field: string, text = 'false'): boolean {
  if (text !== 'true' && text !== 'false') {
    throw badField(`${field} is ${quote(text)}; allowed are true and false.`);
  }
  return text === 'true';
}
