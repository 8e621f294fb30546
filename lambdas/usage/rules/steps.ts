/**
 * Steps in which a process reports its count: a report adds to the account's row of the day. Reporting each message would cost
 * $0.63 per million messages, a tenth of the bill. Four rules limit the size of a step, and each keeps a promise of
 * docs/limits.md, "What counts, and how exactly":
 *
 * - A sixteenth of the slack, because a process that ends loses its unreported count.
 * - Half of the slack for all processes together, divided by their share of the traffic. Between two reports a process does not
 * know what the others accept, so without this rule a hundred busy processes would exceed the hard limit by six hundred messages.
 * - A sixteenth of the remaining capacity. Close to a limit each message is reported, and the limit is exact.
 * - An eighth of the count, so that the messages of a small account are counted one by one.
 *
 * One rule sets a minimum, except near a limit: a two-hundredth of the messages that all processes count in a second, up to half
 * of the slack. They all write one row, which takes 1,000 writes a second. At 10,000 messages a second the four rules alone would
 * cause several thousand writes in the first minute of each day.
 *
 * Without a random phase, each process that ends would lose half a step, and a day with many short processes would be counted too
 * low. So each process reports a random part of a step before it has counted it (`aheadOf`). Then n messages make n/step reports
 * on average, whenever the process ends, and the errors of many processes mostly cancel out: with k processes that end in a day,
 * about √k · step / 2 remains.
 */

/** The allowed error of a day's count: this many messages, or this part of the count if that is more. */
const leastSlack = 100;
const slackPart = 0.01;

const processPart = 1 / 16;
const togetherPart = 1 / 2;
const countPart = 1 / 8;

/** Reports of all processes in a second: a fifth of what a row takes, because traffic comes in waves. */
const mostReportsPerSecond = 200;
const seldomPart = 1 / 2;

/**
 * The messages that a process counts between two reports; at least 1.
 *
 * @param count the account's messages of the day, as reported by all processes
 * @param capacity messages left until a limit is reached
 * @param share this process's part of the account's traffic, 0 to 1
 * @param perSecond messages that all processes recently reported in a second
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
 * @param phase random, 0 up to but not including 1; it never changes for a process's count
 */
export const aheadOf = (step: number, phase: number): number => Math.floor(step * phase);
