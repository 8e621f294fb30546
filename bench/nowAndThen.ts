import type { Use } from './meter.ts';

/** Uses that a process makes once in seconds or minutes, however many messages there are. Lanes and runs don't count them. */
const nowAndThen = [
  /^deliver GetItem accounts/,
  /^\w+ (Query accounts|BatchGetItem accounts|GetSecretValue)/,
  // The hosts of the APIs, which are learned.
  /^\w+ UpdateItem accounts/,
  /^\w+ (GetItem|UpdateItem|Query) usage/,
  /^\w+ \w+ lanes \(account\)/,
  // A batch that takes longer is hidden for longer: here, the machine is slow.
  /^deliver ChangeMessageVisibilityBatch/,
];

export const isCounted = ({ by, what }: Use): boolean => !nowAndThen.some((one) => one.test(`${by} ${what}`));
