import type { Account } from '../account/account.ts';
import { newestAttempts } from '../message/log.ts';
import { shardsOf } from '../table/shards.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/statsAnswers.ts';
import { hostTimesOf } from './rules/hostTimes.ts';

/** Attempts that are looked at. */
const mostAttempts = 1_000;
const mostHosts = 100;

/** Shows how the hosts of an account's destinations have answered lately. It reads each shard of the log once. */
export async function getHostTimes(account: Account): Promise<Answer<typeof answers.hostTimes>> {
  const shards = shardsOf(account);
  const read = await Promise.all(
    shards.map((shard) => newestAttempts(shard, Math.ceil(mostAttempts / shards.length))),
  );
  // Shards are read back to different moments: from the latest of them on all have been read.
  const from = Math.max(0, ...read.flatMap(({ readFrom }) => readFrom ?? []));
  const attempts = read.flatMap((one) => one.attempts.filter(({ recordedAt }) => recordedAt >= from));
  const oldest = attempts.reduce((least, { recordedAt }) => Math.min(least, recordedAt), Infinity);
  return {
    attempts: attempts.length,
    from: attempts.length === 0 ? undefined : oldest,
    hosts: [...hostTimesOf(attempts, mostHosts)],
  };
}
