import type { Account } from '../account/account.ts';
import { listDeadLetters } from '../deadLetter/rows.ts';
import { downHosts, pausedKeys, pausedQueues } from '../lane/heldBack.ts';
import { listBudgetMs, merged } from '../list/pages.ts';
import { schedulesBehind } from '../schedule/rows.ts';
import { dayMs, now } from '../shared/clock.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { precedes, shardsOf } from '../table/shards.ts';
import { failingHosts } from './hostTimes.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/statsAnswers.ts';
import { hangingRuns } from '../workflow/logs.ts';

type Attention = Answer<typeof answers.attention>;

/** Rows of each kind that are looked at, and shown. */
const mostRead = 1_000;
const mostShown = 100;

interface Looked<T> {
  readonly found: readonly T[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/** Looks at rows until its time is over, or enough were looked at. @param wanted gives undefined for a row that is in order */
async function look<R, T>(rows: AsyncIterable<R>, wanted: (row: R) => T | undefined): Promise<Looked<T>> {
  const until = now() + listBudgetMs;
  const found: T[] = [];
  let read = 0;
  for await (const row of rows) {
    if (read >= mostRead || now() > until) return { found, isCut: true };
    read += 1;
    const one = wanted(row);
    if (one !== undefined) found.push(one);
  }
  return { found, isCut: false };
}

/** Finds what the owner of an account should look at. What it reads is bounded: see {@link look}. */
export async function getAttention(account: Account): Promise<Attention> {
  const time = now();
  const since = time - dayMs;
  const deadLetters = merged(
    shardsOf(account).map((shard) => listDeadLetters(shard, { fromDate: since }, time)),
    precedes(undefined),
  );
  const [hosts, queues, keys, failed, schedules, runs, failing] = await Promise.all([
    look(downHosts(account), (one) => one),
    look(pausedQueues(account), (one) => one),
    look(pausedKeys(account), (one) => one),
    look(deadLetters, ({ deadLetter }) => deadLetter),
    look(schedulesBehind(account.id, undefined), ({ scheduleId, isPaused, lastFire }) =>
      isPaused || lastFire === undefined ? undefined : { scheduleId, lastFire },
    ),
    hangingRuns(account),
    failingHosts(account),
  ]);
  const failedIds = new Set(failed.found.map(({ message }) => message.messageId));
  const failingSchedules = schedules.found.flatMap(
    ({ scheduleId, lastFire: { time: firedAt, messageIds, error } }) =>
      error !== undefined || messageIds.some((id) => failedIds.has(id))
        ? [{ scheduleId, firedAt, error }]
        : [],
  );
  const failedRuns = failed.found.filter(({ workflow }) => workflow !== undefined).length;
  const down = new Set(hosts.found.map(({ host }) => host));
  const failingNow = failing.filter(({ host }) => !down.has(host));
  const shown = <T>(all: readonly T[]): T[] => all.slice(0, mostShown);
  return {
    since,
    hostsDown: shown(hosts.found),
    failingHosts: shown(failingNow).map(
      ({ host, attempts, failures, failingSince = time, lastSuccess, lastStatus }) => ({
        host,
        attempts,
        failures,
        failingSince,
        lastSuccess,
        lastStatus,
      }),
    ),
    hangingRuns: shown(runs.found).map(({ runId, createdAt, url, since: quietSince, last }) => ({
      workflowRunId: runId,
      workflowCreatedAt: createdAt,
      workflowUrl: shownUrl(url),
      since: quietSince,
      status: last?.status,
    })),
    runsLookedFrom: runs.lookedFrom,
    pausedQueues: shown(queues.found),
    pausedKeys: shown(keys.found),
    failingSchedules: shown(failingSchedules),
    deadLetters: failed.found.length - failedRuns,
    failedRuns,
    isWhole:
      [hosts, queues, keys, failed, schedules].every(({ isCut }) => !isCut) &&
      [hosts.found, queues.found, keys.found, failingSchedules, runs.found, failingNow].every(
        ({ length }) => length <= mostShown,
      ),
  };
}
