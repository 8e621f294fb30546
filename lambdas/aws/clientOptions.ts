/**
 * The options of the AWS clients: how long a client waits for an answer, and how often it tries. Every client is made with these
 * options; a test refuses a client without them. Without `throwOnRequestTimeout` the SDK only warns about a request that takes too
 * long, and goes on waiting.
 */

interface CallLimits {
  /** The longest time without a byte of the answer: before its first byte, and then between any two of its body. */
  readonly silenceMs: number;
  /** The most times that a request is sent. It is sent again after too long a silence, or when AWS had too many requests. */
  readonly tries: number;
}

/**
 * A function behind an API ends after 28 s, and two calls without an answer, one after the other, must fit into that. A call is
 * given up after 12 s and up to 1 s of pauses between its tries. (A throttled call pauses for longer, but each of its tries is
 * answered at once.) A worker has 60 s or more.
 */
const limits = {
  /** Calls of tables, queues, secrets and schedules. They are answered in milliseconds; seconds mean a lost connection. */
  quick: { silenceMs: 3_000, tries: 4 },
  /** Bodies in the bucket. The largest, 4 MiB, take a second at most. */
  bodies: { silenceMs: 4_000, tries: 3 },
  /** Functions that messages go to: Lambda ends them after 900 s. The attempt has its own deadline, and its own retries. */
  functions: { silenceMs: 900_000, tries: 1 },
} as const satisfies Record<string, CallLimits>;

/** The longest time to connect. A host within AWS answers in milliseconds; waiting for a free socket counts as connecting. */
const connectionMs = 2_000;

/** The most requests of one client at once. With fewer, bulk operations would wait for sockets until they are given up. */
export const maxSockets = 100;

export type Calls = keyof typeof limits;

/**
 * Reads from the environment how many times longer than on AWS a call may take. Stand-ins on a busy machine are slow, not down.
 *
 * @throws Error when it is not a number of at least 1
 */
function timesLonger(): number {
  const times = Number(process.env['CLIENT_PATIENCE'] ?? 1);
  if (!(times >= 1)) throw new Error('CLIENT_PATIENCE must be a number of at least 1.');
  return times;
}

/** The options of a client for the calls that it makes; spread them into the client's own. */
export function clientOptions(calls: Calls) {
  const { silenceMs, tries } = limits[calls];
  const times = timesLonger();
  return {
    maxAttempts: tries,
    // The steps of a command are composed at its first call, not at each.
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
