/** The simulated traffic: who publishes how much, and how many messages fail. */
export interface Scenario {
  /** Messages per second of all accounts together, one per request. */
  readonly messagesPerSecond: number;
  readonly seconds: number;
  readonly accounts: number;
  /**
   * The share of messages from the largest accounts, in equal parts. Among the others, the second has half as many as the
   * first, the third a third, and so on.
   */
  readonly largestShare: number;
  readonly largest: number;
  /** The share of the largest account's messages that go to one URL group with this many endpoints. */
  readonly groupShare: number;
  readonly endpoints: number;
  /** The share of the largest account's messages with one flow-control key, whose parallelism is sufficient. */
  readonly keyShare: number;
  /** The share of messages that fail permanently and become dead letters. */
  readonly failingShare: number;
  /** Processes of publish. Each handles one request at a time, in about 15 ms. */
  readonly publishProcesses: number;
  /** Processes of deliver. Each handles a batch of ten at a time, in about 200 ms if the destination takes 100 ms. */
  readonly deliverProcesses: number;
  /** The random seed, so that runs can be repeated. */
  readonly seed: number;
}

/** One account has most of the traffic, with a realistic share for one URL group and one key. */
export const tenThousand: Scenario = {
  messagesPerSecond: 10_000,
  seconds: 5,
  accounts: 200,
  largestShare: 0.8,
  largest: 1,
  groupShare: 0.1,
  endpoints: 10,
  keyShare: 0.01,
  failingShare: 0.02,
  publishProcesses: 200,
  deliverProcesses: 200,
  seed: 1,
};

/** All traffic is from one account. */
export const oneAccount: Scenario = { ...tenThousand, accounts: 1, largestShare: 1 };

/** Messages per second that one deployment can carry: an account's lane has a lease for each of its processes. */
export const mostOfDeployment = 20_000;
/** Messages per second that one account can have with its 32 partition keys. */
export const mostOfAccount = 10_000;

/** The traffic of one of several deployments that share this many messages per second, with as many accounts as needed. */
export function scenariosFor(messages: number, ofAccount = mostOfAccount) {
  const deployments = Math.ceil(messages / mostOfDeployment);
  const messagesPerSecond = Math.ceil(messages / deployments);
  const processes = Math.ceil(
    (tenThousand.deliverProcesses * messagesPerSecond) / tenThousand.messagesPerSecond,
  );
  const each: Scenario = {
    ...tenThousand,
    messagesPerSecond,
    publishProcesses: processes,
    deliverProcesses: processes,
  };
  const crowd: Scenario = {
    ...each,
    largest: Math.ceil((messagesPerSecond * tenThousand.largestShare) / ofAccount),
  };
  const few = Math.ceil(messagesPerSecond / ofAccount);
  const alone: Scenario = { ...each, accounts: few, largest: few, largestShare: 1 };
  return { deployments, crowd, alone };
}

/** The accounts' shares of the traffic, largest first. They add up to 1. */
export function sharesOf({
  accounts,
  largestShare,
  largest,
}: Pick<Scenario, 'accounts' | 'largestShare' | 'largest'>): readonly number[] {
  const weights = Array.from({ length: accounts - largest }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, one) => total + one, 0);
  return [
    ...Array.from({ length: largest }, () => largestShare / largest),
    ...weights.map((weight) => ((1 - largestShare) * weight) / sum),
  ];
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
