/**
 * The options of the AWS clients: how long a client waits for an answer, and how often it asks. Every client is made with these
 * options; a test refuses a client without them. Without `throwOnRequestTimeout` the SDK only warns about a request that takes
 * too long, and goes on waiting.
 */
import type { HttpHandler } from '@smithy/core/protocols';
import { Sender } from './sender.ts';

interface Patience {
  /** The longest time without a byte of the answer: before its first byte, and then between any two of its body. */
  readonly silenceMs: number;
  /** The times that a request is sent in all. It is sent again after too long a silence, or when AWS had too many requests. */
  readonly tries: number;
}

/**
 * A function behind an API ends after 28 s, and two calls without an answer, one after the other, must fit into that. A call is
 * given up after 12 s and up to 1 s of pauses between its tries. (A throttled call pauses for longer, but each of its tries is
 * answered at once.) A worker has 60 s or more.
 */
const patience = {
  /** Calls of tables, queues, secrets and schedules. They are answered in milliseconds; seconds mean a lost connection. */
  quick: { silenceMs: 3_000, tries: 4 },
  /** Bodies in the bucket. 4 MiB, the largest, are on their way for a second at most. */
  bodies: { silenceMs: 4_000, tries: 3 },
} as const satisfies Record<string, Patience>;

/** The longest time to connect. A host within AWS answers in milliseconds; waiting for a free socket counts as connecting. */
const connectionMs = 2_000;

/** The most requests of one client at once. With fewer, bulk operations would wait for sockets until they are given up. */
export const maxSockets = 100;

export type Calls = keyof typeof patience;

/**
 * Reads from the environment how many times longer than on AWS a call may take. Stand-ins on a busy machine are slow, not away.
 *
 * @throws Error when it is not a number of at least 1
 */
function timesLonger(): number {
  const times = Number(process.env['CLIENT_PATIENCE'] ?? 1);
  if (!(times >= 1)) throw new Error('CLIENT_PATIENCE must be a number of at least 1.');
  return times;
}

/** The SDK's own options for what sends a client's requests. */
const sendingOptions = (silenceMs: number, times: number) => ({
  connectionTimeout: times * connectionMs,
  requestTimeout: silenceMs,
  throwOnRequestTimeout: true,
  socketTimeout: silenceMs,
  httpAgent: { maxSockets },
  httpsAgent: { maxSockets },
});

type SendingOptions = ReturnType<typeof sendingOptions>;
type MakeSender = (options: SendingOptions) => HttpHandler;

/** What sends the requests on AWS: the SDK's own sender, made of its options, where bodies are large. */
const usualSender: Record<Calls, (options: SendingOptions) => HttpHandler | SendingOptions> = {
  quick: (options) => new Sender({ ...options, maxSockets }),
  bodies: (options) => options,
};

let makeSender: MakeSender | undefined;
let signs = true;

/**
 * Has the requests of all clients that are made from now on sent by something else than the SDK's own.
 *
 * @param isSigned whether anything looks at their signatures
 */
export function sendWith(make: MakeSender, { isSigned }: { readonly isSigned: boolean }): void {
  makeSender = make;
  signs = isSigned;
}

/** Whether requests have to be signed. */
export const isSigned = (): boolean => signs;

/** The options of a client, by the calls that it makes; to be spread into the client's own. */
export function clientOptions(calls: Calls) {
  const { tries } = patience[calls];
  const times = timesLonger();
  const options = sendingOptions(times * patience[calls].silenceMs, times);
  return { maxAttempts: tries, requestHandler: (makeSender ?? usualSender[calls])(options) };
}
