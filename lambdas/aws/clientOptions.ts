/**
 * The options of all AWS clients. A test refuses clients without them. Without `throwOnRequestTimeout` the SDK only warns about
 * a slow request and waits on.
 */

interface CallLimits {
  /** The longest time without a byte of the answer. */
  readonly silenceMs: number;
  /** The most tries of a call. It is retried after a timeout, and if AWS throttles it. */
  readonly tries: number;
}

/**
 * An API function is ended after 28 s, and must have time for two unanswered calls: a call fails after 12 s
 * and up to 1 s of pauses. A worker has 60 s or more.
 */
const limits = {
  /**
   * Calls of tables, queues, secrets and schedules take milliseconds. If one takes seconds, the connection is
   * lost.
   */
  quick: { silenceMs: 3_000, tries: 4 },
  /** The largest body, 4 MiB, takes a second at most. */
  bodies: { silenceMs: 4_000, tries: 3 },
  /** Lambda ends a destination's function after 900 s. The attempt has its own deadline and retries. */
  functions: { silenceMs: 900_000, tries: 1 },
} as const satisfies Record<string, CallLimits>;

/** Includes the wait for a free socket. AWS connects in milliseconds. */
const connectionMs = 2_000;

/**
 * The most concurrent requests of a client. Fewer would let bulk operations time out while they wait for
 * sockets.
 */
export const maxSockets = 100;

export type Calls = keyof typeof limits;

/**
 * Returns by which factor a call may be slower than on AWS: stand-ins on a busy machine are slow.
 *
 * @throws Error if it is not a number of at least 1
 */
function timesLonger(): number {
  const times = Number(process.env['CLIENT_PATIENCE'] ?? 1);
  if (!(times >= 1)) throw new Error('CLIENT_PATIENCE must be a number of at least 1.');
  return times;
}

export function clientOptions(calls: Calls) {
  const { silenceMs, tries } = limits[calls];
  const times = timesLonger();
  return {
    maxAttempts: tries,
    // The steps of a command are composed only at its first call.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: times * connectionMs,
      requestTimeout: times * silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: times * silenceMs,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
  };
}
