/** The traffic that is simulated: who publishes how much, and what becomes of it. */
export interface Scenario {
  /** Messages that are published in a second, by all accounts together, each with a request of its own. */
  readonly messagesPerSecond: number;
  readonly seconds: number;
  readonly accounts: number;
  /**
   * The part of all messages that the largest accounts publish, each the same. The others share the rest: the second of them has
   * half of what the first has, the third a third, and so on.
   */
  readonly largestShare: number;
  /** The number of accounts that share the largest part. */
  readonly largest: number;
  /** The part of the largest account's messages that goes to one URL group, which has this many endpoints. */
  readonly groupShare: number;
  readonly endpoints: number;
  /** The part of the largest account's messages with one flow-control key, whose parallelism is enough for them. */
  readonly keyShare: number;
  /** The part of all messages that fails for good, and becomes dead letters. */
  readonly failingShare: number;
  /** Processes of publish. One serves a request at a time, in some 15 ms. */
  readonly publishProcesses: number;
  /** Processes of deliver. One serves a batch of ten at a time, in some 200 ms with a destination that takes 100 ms. */
  readonly deliverProcesses: number;
  /** The seed of what is random, so that a run can be repeated. */
  readonly seed: number;
}

/** One account has most of the traffic. One URL group and one key of it have a part that a customer may well give them. */
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

/** All traffic comes from one account. */
export const oneAccount: Scenario = { ...tenThousand, accounts: 1, largestShare: 1 };

/** Messages a second that one deployment carries: the lane of an account has a lease of each of its processes. */
export const mostOfDeployment = 20_000;
/** Messages a second that one account carries, with the 32 partition keys that it has. */
export const mostOfAccount = 10_000;

/** The traffic of one deployment of several that share so many messages a second, with as many accounts as they need. */
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

/** The parts of the traffic by account, the largest first: they add up to 1. */
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

/** Numbers from 0 up to but not including 1, the same for the same seed ("mulberry32"). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
