/** Counts what a message costs if there are few other messages, and if there are many: neither calls nor bills may grow. */
import { promptMs } from '../../lambdas/message/rows.ts';
import { checkAnswer } from '../answer.ts';
import { callsOf, dollarsOf, isCounted } from '../bills.ts';
import type { OnTheWay } from '../cpu.ts';
import { queueEvent } from '../events.ts';
import type { Fixture } from '../fixture.ts';
import { backlogs, type Backlog } from './backlogs.ts';

type PerHandler = Readonly<Record<OnTheWay, number>>;

/** A line of the result: a backlog, and how many messages are in it. */
export interface Growth {
  readonly backlog: string;
  readonly there: number;
  readonly calls: PerHandler;
  /** AWS's bill for these calls, for a million messages. */
  readonly dollars: PerHandler;
}

/** Counted messages: a multiple of ten (the batch size) and eight (the page size of a line). */
const counted = 40;
const publishedAtOnce = 10;
const settlingMessages = 50;

/** Runs before a backlog is filled, which takes minutes. */
export type OnFilling = (backlog: string, level: number) => void;

/** @param levels ascending sizes of the backlogs, each a multiple of a hundred */
export async function measureGrowth(
  fixture: Fixture,
  levels: readonly number[],
  onFilling: OnFilling,
): Promise<readonly Growth[]> {
  const growths: Growth[] = [];
  for (const open of backlogs) {
    fixture.purge();
    const backlog = await open(fixture);
    let there = 0;
    for (const level of levels) {
      onFilling(backlog.name, level);
      // The meter would remember each row.
      await fixture.meter.ignore(() => backlog.fill(level - there));
      there = level;
      // Warm-up, after which processes have read what they read once, and the meter knows the rows.
      await pass(fixture, backlog, settlingMessages, async (handler, event) => {
        checkAnswer(await fixture[handler].invoke(event));
      });
      const cost = await costOf(fixture, counted, (invoke) => pass(fixture, backlog, counted, invoke));
      growths.push({ backlog: backlog.name, there, ...cost });
    }
  }
  return growths;
}

type Invoke = (handler: OnTheWay, event: object) => Promise<void>;

async function pass(fixture: Fixture, backlog: Backlog, messages: number, invoke: Invoke): Promise<void> {
  const { event, batchSize } = backlog;
  for (let made = 0; made < messages; made += publishedAtOnce) {
    for (let published = 0; published < publishedAtOnce; published += 1) await invoke('publish', event);
    for (let delivered = 0; delivered < publishedAtOnce; delivered += batchSize) {
      await invoke('deliver', queueEvent(await fixture.takeAttempts(batchSize)));
    }
  }
}

/**
 * Counts the cost of work for each of its messages, while the clock of this process is stopped. Otherwise
 * the number of reads would depend on the machine, because a lane that was seen within 50 ms is not read
 * again.
 */
export async function costOf(
  fixture: Fixture,
  messages: number,
  work: (invoke: Invoke) => Promise<void>,
): Promise<Pick<Growth, 'calls' | 'dollars'>> {
  const [calls, dollars] = [
    { publish: 0, deliver: 0 },
    { publish: 0, deliver: 0 },
  ];
  const { now } = Date;
  // The backlog's messages are delivered late, which costs more, however quickly the backlog was filled.
  const at = now() + promptMs + 1;
  Date.now = () => at;
  try {
    await work(async (handler, event) => {
      const uses = (await fixture.measure(handler, event)).filter(isCounted);
      calls[handler] += callsOf(uses) / messages;
      dollars[handler] += dollarsOf(uses) / messages;
    });
  } finally {
    Date.now = now;
  }
  return { calls, dollars };
}
