/** The simulated traffic: who publishes how much, and how many messages fail. */
export interface Scenario {
  /** Messages per second of all accounts together, one per request. */
  readonly messagesPerSecond: number;
  readonly seconds: number;
  readonly accounts: number;
  /** The share of messages that fail permanently and become dead letters. */
  readonly failingShare: number;
  /**
   * Processes of publish, each of which handles one request at a time, in about 15 ms; and as many of deliver, each of which
   * handles a batch of ten at a time, in about 200 ms if the destination takes 100 ms.
   */
  readonly processes: number;
  readonly seed: number;
}

export const oneAccount: Scenario = {
  messagesPerSecond: 10_000,
  seconds: 5,
  accounts: 1,
  failingShare: 0.02,
  processes: 200,
  seed: 1,
};

/** Messages per second that one deployment can carry: an account's lane has a lease for each of its processes. */
const mostOfDeployment = 20_000;
/** Messages per second that one account can have with its 32 partition keys. */
const mostOfAccount = 10_000;

/** The traffic of one of several deployments that share this many messages per second, with as few accounts as possible. */
export function scenarioFor(messages: number): { readonly deployments: number; readonly scenario: Scenario } {
  const deployments = Math.ceil(messages / mostOfDeployment);
  const messagesPerSecond = Math.ceil(messages / deployments);
  const scenario = {
    ...oneAccount,
    messagesPerSecond,
    accounts: Math.ceil(messagesPerSecond / mostOfAccount),
    processes: Math.ceil((oneAccount.processes * messagesPerSecond) / oneAccount.messagesPerSecond),
  };
  return { deployments, scenario };
}

/** Random numbers from 0 (included) to 1 (excluded), reproducible by seed ("mulberry32"). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
