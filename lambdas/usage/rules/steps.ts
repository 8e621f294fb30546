/**
 * A process adds its count to the account's row of the day in steps. Reporting each message would cost $0.63
 * per million messages, a tenth of the bill. A step is the smallest of four numbers. Each keeps a promise of
 * docs/limits.md, "What counts, and how exactly":
 *
 * - A sixteenth of the slack, because a process that ends loses its unreported count.
 * - Half of the slack, divided among all processes by their shares of the traffic, because a process does not
 * see the others' counts between two reports. Otherwise a hundred busy processes would exceed the hard limit
 * by six hundred messages.
 * - A sixteenth of the remaining capacity, so that close to a limit each message is reported.
 * - An eighth of the count, so that a small account's messages are counted one by one.
 *
 * Except near a limit, a step is at least a two-hundredth of the messages that all processes count in a
 * second, up to half of the slack. A row takes 1,000 writes a second, and at 10,000 messages a second the
 * four rules alone would cause several thousand in the first minute of each day.
 *
 * A process that ends loses half a step on average. To make up for it, each process reports a random part of
 * its first step in advance (`aheadOf`). Then n messages make n/step reports on average, and errors mostly
 * cancel out: about √k · step / 2 remains of k processes.
 */

/** The allowed error of a day's count: the larger of this many messages and this part of the count. */
const leastSlack = 100;
const slackPart = 0.01;

const processPart = 1 / 16;
const togetherPart = 1 / 2;
const countPart = 1 / 8;

/** Reports per second of all processes: a fifth of what a row takes, because traffic comes in waves. */
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
 * The messages of a step that a process reports in advance: 0 to step - 1.
 *
 * @param phase random, 0 up to but not including 1; constant for a process's count
 */
export const aheadOf = (step: number, phase: number): number => Math.floor(step * phase);
