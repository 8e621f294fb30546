import type { Account } from '../account/account.ts';
import { listDeadLetters, type DeadLetter } from '../deadLetter/rows.ts';
import { downHosts, pausedKeys, pausedQueues } from '../lane/heldBack.ts';
import { leastRead, listBudgetMs, merged } from '../list/pages.ts';
import { statesOf } from '../schedule/lastFires.ts';
import { schedulesBehind } from '../schedule/rows.ts';
import type { LastFire } from '../schedule/schedule.ts';
import { dayMs, now } from '../shared/clock.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { precedes, shardsOf } from '../table/shards.ts';
import { failingHosts } from './hostTimes.ts';
import type { Answer } from '../wire/answers.ts';
import { attentionParts, type attention, type AttentionPart } from '../wire/statsAnswers.ts';
import { hangingRuns } from '../workflow/logs.ts';

type Attention = Answer<typeof attention>;

export interface Bounds {
  readonly mostRead: number;
  readonly budgetMs: number;
}
const boundsOfAnswer: Bounds = { mostRead: 1_000, budgetMs: listBudgetMs };
const mostShown = 100;

interface Looked<T> {
  readonly found: readonly T[];
  /** Whether reading stopped early, so that there may be more. */
  readonly isCut: boolean;
}

/**
 * Checks rows until the time is over, or enough rows are read. @param wanted returns undefined for a row
 * without a problem
 */
export async function look<R, T>(
  rows: AsyncIterable<R>,
  wanted: (row: R) => T | undefined,
  { mostRead, budgetMs }: Bounds = boundsOfAnswer,
): Promise<Looked<T>> {
  const until = now() + budgetMs;
  const found: T[] = [];
  let read = 0;
  for await (const row of rows) {
    if (read >= mostRead || (read >= leastRead && now() > until)) return { found, isCut: true };
    read += 1;
    const one = wanted(row);
    if (one !== undefined) found.push(one);
  }
  return { found, isCut: false };
}

interface Fired {
  readonly scheduleId: string;
  readonly lastFire: LastFire;
}

/** How many messages of fires are read, one by one. */
const mostStates = 50;

/**
 * Finds the schedules whose last fire failed, from the dead letters. If not all dead letters were read, it
 * also reads the messages of fires that are older than the last dead letter read.
 */
async function failingOf(
  account: Account,
  schedules: Looked<Fired>,
  failed: Looked<DeadLetter>,
): Promise<Looked<Fired>> {
  const failedIds = new Set(failed.found.map(({ message }) => message.messageId));
  const lookedFrom = failed.isCut ? Math.min(...failed.found.map(({ failedAt }) => failedAt)) : 0;
  let left = mostStates;
  let { isCut } = schedules;
  const found: Fired[] = [];
  for (const fired of schedules.found) {
    const { time, messageIds, error } = fired.lastFire;
    let isFailing = error !== undefined || messageIds.some((id) => failedIds.has(id));
    if (!isFailing && time < lookedFrom && time >= now() - dayMs) {
      left -= messageIds.length;
      if (left < 0) isCut = true;
      else isFailing = Object.values(await statesOf(account.id, messageIds)).includes('FAIL');
    }
    if (isFailing) found.push(fired);
  }
  return { found, isCut };
}

/** Lists the dead letters of an account since a time, newest first. Yields undefined for removed ones. */
export async function* deadLettersSince(account: Account, since: number) {
  const shards = shardsOf(account).map((shard) => listDeadLetters(shard, { fromDate: since }, now()));
  for await (const { deadLetter } of merged(shards, precedes(undefined))) yield deadLetter;
}

const itself = <T>(one: T): T => one;

interface LookedAtSchedules {
  /** How many schedules were read. */
  readonly number: number;
  /** Schedules that have fired and are not paused. */
  readonly fired: Looked<Fired>;
}

export async function lookAtSchedules(account: Account, bounds?: Bounds): Promise<LookedAtSchedules> {
  let number = 0;
  const fired = await look(
    schedulesBehind(account.id, undefined),
    ({ scheduleId, isPaused, lastFire }) => {
      number += 1;
      return isPaused || lastFire === undefined ? undefined : { scheduleId, lastFire };
    },
    bounds,
  );
  return { number, fired };
}

export const failingAmong = async (
  account: Account,
  fired: Looked<Fired>,
  bounds: Bounds,
): Promise<Looked<Fired>> =>
  fired.found.length === 0
    ? fired
    : failingOf(account, fired, await look(deadLettersSince(account, now() - dayMs), itself, bounds));

export async function getAttention(account: Account): Promise<Attention> {
  const time = now();
  const since = time - dayMs;
  const [hosts, queues, keys, failed, schedules, runs, failing] = await Promise.all([
    look(downHosts(account), itself),
    look(pausedQueues(account), itself),
    look(pausedKeys(account), itself),
    look(deadLettersSince(account, since), itself),
    lookAtSchedules(account),
    hangingRuns(account),
    failingHosts(account),
  ]);
  const failingSchedules = await failingOf(account, schedules.fired, failed);
  const failedRuns = failed.found.filter(({ workflow }) => workflow !== undefined).length;
  const down = new Set(hosts.found.map(({ host }) => host));
  const failingNow = failing.filter(({ host }) => !down.has(host));
  const looked = {
    hostsDown: hosts,
    failingHosts: { found: failingNow, isCut: false },
    hangingRuns: { found: runs.found, isCut: runs.lookedFrom !== undefined },
    pausedQueues: queues,
    pausedKeys: keys,
    failingSchedules,
  };
  const cut = attentionParts.filter((part) =>
    part === 'deadLetters' || part === 'failedRuns'
      ? failed.isCut
      : looked[part].isCut || looked[part].found.length > mostShown,
  );
  const known = <V>(part: AttentionPart, found: number, value: V): V | undefined =>
    found > 0 || !cut.includes(part) ? value : undefined;
  const shown = <T>(part: AttentionPart, all: readonly T[]) =>
    known(part, all.length, all.slice(0, mostShown));
  const deadLetters = failed.found.length - failedRuns;
  return {
    since,
    hostsDown: shown('hostsDown', hosts.found),
    failingHosts: shown('failingHosts', failingNow)?.map(
      ({ host, attempts, failures, failingSince = time, lastSuccess, lastStatus }) => ({
        host,
        attempts,
        failures,
        failingSince,
        lastSuccess,
        lastStatus,
      }),
    ),
    hangingRuns: shown('hangingRuns', runs.found)?.map(
      ({ runId, createdAt, url, since: quietSince, last }) => ({
        workflowRunId: runId,
        workflowCreatedAt: createdAt,
        workflowUrl: shownUrl(url),
        since: quietSince,
        status: last?.status,
      }),
    ),
    runsLookedFrom: runs.lookedFrom,
    pausedQueues: shown('pausedQueues', queues.found),
    pausedKeys: shown('pausedKeys', keys.found),
    failingSchedules: shown('failingSchedules', failingSchedules.found)?.map(
      ({ scheduleId, lastFire: { time: firedAt, error } }) => ({ scheduleId, firedAt, error }),
    ),
    deadLetters: known('deadLetters', deadLetters, deadLetters),
    failedRuns: known('failedRuns', failedRuns, failedRuns),
    isWhole: cut.length === 0,
    cut,
  };
}
