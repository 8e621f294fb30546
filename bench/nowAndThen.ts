import type { Use } from './meter.ts';

/**
 * Uses of a process once in seconds, or minutes, however many messages pass it: none of it is a lane's or a run's. Usage is
 * counted in steps, and is the same for all.
 */
const nowAndThen = [
  /^deliver GetItem accounts/,
  /^\w+ (Query accounts|BatchGetItem accounts|GetSecretValue)/,
  // The hosts of the APIs, which are learned.
  /^\w+ UpdateItem accounts/,
  /^\w+ (GetItem|UpdateItem|Query) usage/,
  /^\w+ \w+ lanes \(account\)/,
];

export const isCounted = ({ by, what }: Use): boolean => !nowAndThen.some((one) => one.test(`${by} ${what}`));
