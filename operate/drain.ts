/** `svc-queue drain`: stops all accounts of a region, and waits until it is empty. */
import { setTimeout as sleep } from 'node:timers/promises';
import { secondMs } from '../lambdas/shared/clock.ts';
import type { Left } from '../lambdas/recovery/drain.ts';
import { apiFunctionTimeoutSeconds } from '../lambdas/aws/resources.ts';

interface Region {
  readonly setDraining: (isDraining: boolean) => Promise<number>;
  readonly readRegion: () => Promise<Left>;
  readonly isEmptied: (left: Left) => boolean;
}

interface Looks {
  readonly everyMs: number;
  readonly once: boolean;
  readonly now?: () => number;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** After this time, requests that began before their account was stopped have stored everything. */
const settledMs = (apiFunctionTimeoutSeconds + 2) * secondMs;

/**
 * Stops all accounts of a region, and checks until nothing is left: twice, because SQS's counts are approximate. It can be
 * repeated.
 *
 * @returns whether the region is empty
 */
export async function drain(
  { setDraining, readRegion, isEmptied }: Region,
  { everyMs, once, now = Date.now, wait = sleep }: Looks,
  print: (line: string) => void,
): Promise<boolean> {
  let stoppedAt = -Infinity;
  let wasEmptied = false;
  for (;;) {
    const stopped = await setDraining(true);
    if (stopped > 0) {
      stoppedAt = now();
      print(
        `${stopped} account${stopped === 1 ? '' : 's'} of the region now take${stopped === 1 ? 's' : ''} nothing new.`,
      );
    }
    const lookedAt = now();
    const left = await readRegion();
    for (const line of linesOf(left)) print(line);
    const isEmpty = isEmptied(left) && lookedAt - stoppedAt >= settledMs;
    if (isEmpty && (wasEmptied || once)) {
      print('The region is empty: nothing is left to do.');
      return true;
    }
    if (once) return false;
    wasEmptied = isEmpty;
    await wait(everyMs);
  }
}

const some = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Describes what is left, and what to do about it. */
function* linesOf(left: Left): Generator<string> {
  const { messages, lastDueAt, runs, schedules, queues, paused, pausedSchedules, deadLetters } = left;
  const due = lastDueAt === undefined ? '' : `, the last due at ${new Date(lastDueAt).toISOString()}`;
  yield `Left: ${some(messages, 'message')}${due}; ${some(runs, 'run')}; ${some(schedules, 'active schedule')}; ${queuesOf(queues)}.`;
  if (schedules > 0)
    yield 'Active schedules keep firing: move them with npm run migrate, then delete or pause them here.';
  if (runs > 0)
    yield 'Runs continue until they end. A run that waits for an event waits until it arrives, or until the run is cancelled.';
  for (const lane of paused)
    yield `Messages wait in a lane that is paused: ${lane}. Resume it, or cancel them.`;
  if (pausedSchedules + deadLetters > 0) {
    yield `Kept, and nothing to wait for: ${some(deadLetters, 'dead letter')}, ${some(pausedSchedules, 'paused schedule')}. They are lost with the region.`;
  }
}

const queuesOf = (queues: Left['queues']): string =>
  Object.keys(queues).length === 0
    ? 'the queues are empty'
    : `in queues ${Object.entries(queues)
        .map(([name, depth]) => `${name} ${depth}`)
        .join(', ')}`;
