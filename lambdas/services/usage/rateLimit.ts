/** The limits of an account's requests to the API, and of their bytes, in a second. */
import type { Account } from '../../domain/account/account.ts';
import { now, secondMs } from '../../domain/clock.ts';
import type { CodeOf } from '../../errorCodes.ts';
import { HttpError } from '../../domain/httpError.ts';
import { count } from '../../metrics.ts';
import { takeTokens, type Taken, type TokenBucket } from '../../domain/usage/tokenBucket.ts';
import { counterOf, type UsageCounter } from './counter.ts';

interface Buckets {
  calls?: TokenBucket;
  bytes?: TokenBucket;
}

/** A counter lives for as long as this process has requests of its account, and so do its buckets. */
const bucketsOf = new WeakMap<UsageCounter, Buckets>();

/**
 * Counts a request to the API, of whatever kind. Each process holds the account to the process's share of its requests.
 *
 * @param bytes of its body
 * @throws HttpError 429 when there are too many within a second, or too many bytes
 */
export async function admitCall(account: Account, bytes: number): Promise<void> {
  const time = now();
  const counter = await counterOf(account, time);
  const { callsPerSecond, bytesPerSecond } = counter.allowance;
  const share = counter.callShareAt(time);
  const buckets = bucketsOf.get(counter) ?? {};
  bucketsOf.set(counter, buckets);

  const call = takeTokens(buckets.calls, 1, callsPerSecond * share, 1, time);
  buckets.calls = call.bucket;
  if (!call.isTaken) {
    throw tooMany(
      'rate_limit_reached',
      `The account's limit max_requests_per_second is ${callsPerSecond}, and this request is one too many; send it again a moment later.`,
      callsPerSecond,
      call,
      time,
    );
  }
  if (bytes > 0) {
    const perSecond = bytesPerSecond * share;
    // A body may be larger than a second's worth, so it is taken when there is anything left, and the rest is a debt.
    const body = takeTokens(buckets.bytes, bytes, perSecond, Math.min(1, perSecond), time);
    buckets.bytes = body.bucket;
    if (!body.isTaken) {
      throw tooMany(
        'bandwidth_limit_reached',
        `The account's limit max_bandwidth_per_second is ${bytesPerSecond} bytes, and the ${bytes} bytes of this request are too many; send it again a moment later.`,
        bytesPerSecond,
        body,
        time,
      );
    }
  }
  counter.count({ calls: 1, bytes });
}

const tooMany = (
  code: CodeOf<429>,
  sentence: string,
  limit: number,
  { left, moreAt }: Taken,
  time: number,
): HttpError => {
  count('LimitsHit');
  return new HttpError(429, code, sentence, {
    'burst-ratelimit-limit': String(limit),
    'burst-ratelimit-remaining': String(left),
    'burst-ratelimit-reset': String(Math.ceil(moreAt / secondMs)),
    'retry-after': String(Math.max(1, Math.ceil((moreAt - time) / secondMs))),
  });
};
