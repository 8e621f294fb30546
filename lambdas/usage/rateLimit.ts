/**
 * Limits an account's requests and bytes in a second. Webhook calls, which need no token, are counted separately, so that too
 * many of one kind do not block the other.
 */
import type { Account } from '../account/account.ts';
import { now, secondMs } from '../shared/clock.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { HttpError } from '../error/httpError.ts';
import { count } from '../aws/metrics.ts';
import type { LimitedRequests } from './rules/processCount.ts';
import { takeTokens, type Taken, type TokenBucket } from './rules/tokenBucket.ts';
import { counterOf, type UsageCounter } from './counter.ts';

interface Buckets {
  requests?: TokenBucket;
  bytes?: TokenBucket;
}

/** The buckets of an account, which live as long as its counter in this process. */
const bucketsOf: Readonly<Record<LimitedRequests, WeakMap<UsageCounter, Buckets>>> = {
  calls: new WeakMap(),
  hooks: new WeakMap(),
};

/**
 * Counts an authenticated request. Each process allows its share of the account's limit.
 *
 * @param bytes the bytes of its body
 * @throws HttpError 429 if there are too many requests or bytes within a second; nothing is counted then
 */
export async function limitCall(account: Account, bytes: number): Promise<void> {
  const time = now();
  const counter = await counterOf(account, time);
  take('calls', counter, bytes, time);
  counter.count({ calls: 1, bytes });
}

interface LimitedHook {
  /** Counts an accepted call among the account's requests. */
  readonly count: () => void;
  /** Frees the place of a call that was refused after all. */
  readonly giveBack: () => void;
}

/**
 * Allows a webhook call, like {@link limitCall}. The caller counts or frees it later.
 *
 * @param bytes the bytes of its body
 * @throws HttpError 429 if there are too many calls or bytes within a second
 */
export async function limitHook(account: Account, bytes: number): Promise<LimitedHook> {
  const time = now();
  const counter = await counterOf(account, time);
  const buckets = take('hooks', counter, bytes, time);
  return {
    count: () => {
      counter.count({ hooks: 1, bytes });
    },
    giveBack: () => {
      buckets.requests &&= withMore(buckets.requests, 1);
      buckets.bytes &&= withMore(buckets.bytes, bytes);
    },
  };
}

const withMore = (bucket: TokenBucket, tokens: number): TokenBucket => ({
  ...bucket,
  level: bucket.level + tokens,
});

/**
 * Takes a request and its bytes from the buckets, or neither.
 *
 * @throws HttpError 429
 */
function take(kind: LimitedRequests, counter: UsageCounter, bytes: number, time: number): Buckets {
  const { callsPerSecond, bytesPerSecond } = counter.allowance;
  const share = counter.shareAt(kind, time);
  const buckets = bucketsOf[kind].get(counter) ?? {};
  bucketsOf[kind].set(counter, buckets);
  const subject = kind === 'calls' ? 'this request' : 'this call without a token';

  const request = takeTokens(buckets.requests, 1, callsPerSecond * share, 1, time);
  if (!request.isTaken) {
    // Stored also on refusal, so that the bucket fills from now on even if the clock has stepped back.
    buckets.requests = request.bucket;
    throw tooMany(
      'rate_limit_reached',
      `The account's limit max_requests_per_second is ${callsPerSecond}, and ${subject} exceeds it; send it again a moment later.`,
      callsPerSecond,
      request,
      time,
    );
  }
  if (bytes > 0) {
    const perSecond = bytesPerSecond * share;
    // A body may be larger than the limit of a second. It is taken if any bytes are left, and the rest becomes a debt.
    const body = takeTokens(buckets.bytes, bytes, perSecond, Math.min(1, perSecond), time);
    buckets.bytes = body.bucket;
    if (!body.isTaken) {
      throw tooMany(
        'bandwidth_limit_reached',
        `The account's limit max_bandwidth_per_second is ${bytesPerSecond} bytes, and the ${bytes} bytes of ${subject} exceed it; send it again a moment later.`,
        bytesPerSecond,
        body,
        time,
      );
    }
  }
  buckets.requests = request.bucket;
  return buckets;
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
