import type { Account } from '../account/account.ts';
import { hostOf } from '../destination/place.ts';
import { listHolds } from '../lane/holds.ts';
import type { TimedAttempt } from './store/log.ts';
import { dayMs, now } from '../shared/clock.ts';
import { shardsOf } from '../table/shards.ts';
import { latestDateMs, wholeOf } from '../wire/queryReader.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/statsAnswers.ts';
import { readBack, readOnce, type Looked } from './readAttempts.ts';
import { hostTimesOf, isFailing, stepsOf, type HostTime } from './rules/hostTimes.ts';

const mostAttempts = 1_000;
const mostHosts = 100;
/** For this many failing hosts, the last success is looked for in older attempts. */
const mostFailing = 10;

/**
 * Reads the newest attempts. If they do not show since when a host has been failing, one more call for each
 * shard reads older ones.
 */
async function readNewest(
  account: Account,
  isWanted: (attempt: TimedAttempt) => boolean = () => true,
): Promise<Looked & { readonly before: readonly TimedAttempt[] }> {
  const most = Math.ceil(mostAttempts / shardsOf(account).length);
  const all = await readOnce(account, { most });
  const looked = { ...all, attempts: all.attempts.filter(isWanted) };
  const hosts = hostTimesOf(looked.attempts, mostHosts)
    .filter((host) => isFailing(host, now()) && host.lastSuccess === undefined)
    .slice(0, mostFailing)
    .map(({ host }) => host);
  if (hosts.length === 0 || looked.from === 0) return { ...looked, before: [] };
  const { attempts } = await readOnce(account, { to: looked.from - 1, destinations: hosts });
  return { ...looked, before: attempts.filter((one) => isWanted(one) && hosts.includes(hostOf(one.url))) };
}

function withBefore(
  hosts: readonly HostTime[],
  looked: readonly TimedAttempt[],
  before: readonly TimedAttempt[],
) {
  if (before.length === 0) return hosts;
  const longer = new Map(hostTimesOf([...looked, ...before], Infinity).map((host) => [host.host, host]));
  return hosts.map((host): HostTime => {
    if (host.lastSuccess !== undefined) return host;
    const { lastSuccess, failingSince, failuresInRow } = longer.get(host.host) ?? host;
    return { ...host, lastSuccess, failingSince, failuresInRow };
  });
}

/**
 * Finds the hosts whose last attempts have all failed. @param isWanted selects the attempts that count; all
 * by default
 */
export async function failingHosts(
  account: Account,
  isWanted?: (attempt: TimedAttempt) => boolean,
): Promise<readonly HostTime[]> {
  const { attempts, before } = await readNewest(account, isWanted);
  const failing = hostTimesOf(attempts, Infinity).filter((host) => isFailing(host, now()));
  return withBefore(failing, attempts, before);
}

type HostTimes = Answer<typeof answers.hostTimes>;

async function withHolds(account: Account, hosts: readonly HostTime[]): Promise<HostTimes['hosts']> {
  const held = new Map((await listHolds(account)).map(({ kind, name, since }) => [`${kind} ${name}`, since]));
  return hosts.map((one) => ({ ...one, heldSince: held.get(`host ${one.host}`) }));
}

export async function getHostTimes(account: Account): Promise<HostTimes> {
  const { attempts, from, before } = await readNewest(account);
  const oldest = oldestOf(attempts);
  return {
    attempts: attempts.length,
    from: oldest,
    steps:
      oldest === undefined ? undefined : [...stepsOf(attempts, oldest, Math.max(now(), oldest + 1), steps)],
    lookedFrom: from === 0 ? undefined : from,
    hosts: await withHolds(account, withBefore(hostTimesOf(attempts, mostHosts), attempts, before)),
  };
}

const oldestOf = (attempts: readonly TimedAttempt[]): number | undefined =>
  attempts.length === 0
    ? undefined
    : attempts.reduce((least, { recordedAt }) => Math.min(least, recordedAt), Infinity);

const steps = 48;
/**
 * Shows how a host answered. Reads the log back to the given time, with at most ten calls for each shard and
 * for at most a second.
 *
 * @param sinceText Unix milliseconds; a day ago by default
 * @throws HttpError 400 if it is malformed
 */
export async function getHostTime(
  account: Account,
  host: string,
  sinceText: string | undefined,
): Promise<HostTimes> {
  const time = now();
  const since = sinceText === undefined ? time - dayMs : wholeOf('since', sinceText, 0, latestDateMs);
  const { attempts, lookedFrom } = await readBack(account, since, time, { destinations: [host] });
  const found = attempts.filter(({ url }) => hostOf(url) === host);
  return {
    attempts: found.length,
    from: oldestOf(found),
    lookedFrom,
    hosts: await withHolds(account, hostTimesOf(found, 1)),
    steps: [...stepsOf(found, lookedFrom ?? since, Math.max(time, since + 1), steps)],
  };
}
