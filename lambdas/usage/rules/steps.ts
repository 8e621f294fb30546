/**
 * Steps in which a process reports what it counted: a report adds to the account's row of the day. A report for each
 * message would cost $0.63 per million messages, a tenth of the bill. Four rules bound a step from above, and each keeps a
 * promise of docs/limits.md, "What counts, and how exactly":
 *
 * - A sixteenth of the slack, because a process that ends loses what it has not reported.
 * - Half of the slack for all processes together, each by its share of the traffic: between two reports a process does not
 *   know what the others accept, so without this a hundred busy processes would pass the hard limit by six hundred messages.
 * - A sixteenth of what a limit leaves: close to it each message is reported, and the limit is exact.
 * - An eighth of the count, so that an account with few messages sees them counted one by one.
 *
 * One rule bounds it from below, except where a limit leaves little: a two-hundredth of what all processes count in a second, up to
 * half of the slack. They all write one row, which takes 1,000 writes a second. At 10,000 messages a second the four rules
 * alone come to several thousand writes, in the first minute of each day.
 *
 * Without a random phase, processes that end would lose half a step each, and a day with many short processes would be
 * counted too low. So each process reports a random part of a step before it has counted it (`aheadOf`): n messages then
 * make n/step reports on average, whenever the process ends, and the errors of many processes mostly cancel out: of k
 * processes that end in a day, about √k · step / 2 is left.
 */

/** Messages by which the day's count may be wrong, or the part of the count where that is more. */
const leastSlack = 100;
const slackPart = 0.01;

const processPart = 1 / 16;
const togetherPart = 1 / 2;
const countPart = 1 / 8;

/** Reports of all processes together in a second: a fifth of what a row takes, because traffic comes in waves. */
const mostReportsPerSecond = 200;
const seldomPart = 1 / 2;

/**
 * The number of messages that a process counts between two reports; at least 1.
 *
 * @param count the account's messages of the day, as all processes reported them
 * @param capacity the messages that are left until a limit is reached
 * @param share this process's part of the account's traffic, 0 to 1
 * @param perSecond the messages that all processes reported in a second, lately
 */
export function stepOf(count: number, capacity: number, share: number, perSecond: number): number {
  const slack = Math.max(leastSlack, count * slackPart);
  const exact = Math.min(slack * processPart, slack * share * togetherPart, count * countPart);
  const seldom = Math.min(perSecond / mostReportsPerSecond, slack * seldomPart);
  const left = Math.min(capacity * processPart, capacity * share * togetherPart);
  return Math.max(1, Math.floor(Math.min(Math.max(exact, seldom), left)));
}

/**
 * The messages of a step that a process reports before it has counted them: 0 to step - 1.
 *
 * @param phase random, 0 up to but not including 1; the same for the whole life of a process's count
 */
export const aheadOf = (step: number, phase: number): number => Math.floor(step * phase);
