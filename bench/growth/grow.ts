/** Counts what a message costs if there are few other messages, and if there are many: neither calls nor bills may grow. */
import { checkAnswer } from '../answer.ts';
import { bundleUrl, startInvoker, type Invoker } from '../child.ts';
import { onTheWay, warmUpMessages, type OnTheWay } from '../cpu.ts';
import { queueEvent } from '../events.ts';
import { median, sum } from '../figures.ts';
import type { CountedUse } from '../meter.ts';
import { isCounted } from '../nowAndThen.ts';
import { dollarsPerMillion } from '../../verify/prices/prices.ts';
import type { Fixture } from '../fixture.ts';
import { backlogs, type Backlog } from './backlogs.ts';

type PerHandler<Value> = Readonly<Record<OnTheWay, Value>>;

interface Cost {
  readonly calls: PerHandler<number>;
  /** AWS's bill for these calls, for a million messages. */
  readonly dollars: PerHandler<number>;
}

/** A line of the result: a backlog, and how many messages are in it. */
export interface Growth extends Cost {
  readonly backlog: string;
  readonly there: number;
  /** CPU milliseconds of the bundled functions per message; undefined if not requested. */
  readonly cpuMs: PerHandler<number> | undefined;
}

const deliveryQueues = ['short', 'long'] as const;

/** Counted messages: a multiple of ten (the batch size) and eight (the page size of a line). */
const counted = 40;
const publishedAtOnce = 10;
const settlingMessages = 50;
const rounds = 7;
const messagesInRound = 40;

interface GrowthOptions {
  /** Ascending sizes of the backlog, each a multiple of a hundred. */
  readonly levels: readonly number[];
  readonly measuresCpu: boolean;
  /** Runs before a backlog is filled, which takes minutes. */
  readonly onFilling: (backlog: string, level: number) => void;
}

export async function measureGrowth(fixture: Fixture, options: GrowthOptions): Promise<readonly Growth[]> {
  const growths: Growth[] = [];
  for (const open of backlogs) {
    dropWaiting(fixture);
    growths.push(...(await growBacklog(fixture, await open(fixture), options)));
  }
  return growths;
}

/** Drops waiting messages, which would be delivered in the next measurement. */
export function dropWaiting({ standIns }: Fixture): void {
  for (const queue of deliveryQueues) standIns.sqs.queues.purge(queue);
}

async function growBacklog(
  fixture: Fixture,
  backlog: Backlog,
  { levels, measuresCpu, onFilling }: GrowthOptions,
): Promise<readonly Growth[]> {
  const growths: Growth[] = [];
  const invokers = measuresCpu ? startInvokers() : undefined;
  let there = 0;
  for (const level of levels) {
    onFilling(backlog.name, level);
    // The meter would remember each row.
    await fixture.meter.ignore(() => backlog.fill(level - there));
    if (there === 0 && invokers !== undefined) await cpuOf(fixture, backlog, invokers, warmUpMessages);
    there = level;
    // Warm-up: processes read what they read once, and the meter sees rows that others wrote.
    await pass(fixture, backlog, settlingMessages, invokeWith(fixture));
    const cost = await count(fixture, backlog);
    const cpuMs = invokers === undefined ? undefined : await measureCpu(fixture, backlog, invokers);
    growths.push({ backlog: backlog.name, there, ...cost, cpuMs });
  }
  if (invokers !== undefined) for (const handler of onTheWay) await invokers[handler].end();
  return growths;
}

const startInvokers = (): PerHandler<Invoker> => ({
  publish: startInvoker(bundleUrl('publish'), quiet),
  deliver: startInvoker(bundleUrl('deliver'), quiet),
});

/** Otherwise each failed message would be logged. */
const quiet = { POWERTOOLS_LOG_LEVEL: 'ERROR' };

type Invoke = (handler: OnTheWay, events: readonly object[]) => Promise<void>;

/** Publishes messages, and delivers as many from the front. */
async function pass(fixture: Fixture, backlog: Backlog, messages: number, invoke: Invoke): Promise<void> {
  const { event, batchSize } = backlog;
  for (let made = 0; made < messages; made += publishedAtOnce) {
    await invoke(
      'publish',
      Array.from({ length: publishedAtOnce }, () => event),
    );
    for (let delivered = 0; delivered < publishedAtOnce; delivered += batchSize) {
      await invoke('deliver', [queueEvent(await fixture.takeAttempts(batchSize))]);
    }
  }
}

const invokeWith =
  (fixture: Fixture): Invoke =>
  async (handler, events) => {
    for (const event of events) checkAnswer(await fixture[handler].invoke(event));
  };

async function count(fixture: Fixture, backlog: Backlog): Promise<Cost> {
  const uses: Record<OnTheWay, CountedUse[][]> = { publish: [], deliver: [] };
  const invoke = invokeWith(fixture);
  await withStoppedClock(() =>
    pass(fixture, backlog, counted, async (handler, events) => {
      const measured = await fixture.meter.measure(handler, () => invoke(handler, events));
      uses[handler].push(measured.filter(isCounted));
    }),
  );
  return costOf(uses, counted);
}

/** The uses of each function's invocations. */
export type Uses = PerHandler<readonly (readonly CountedUse[])[]>;

export function costOf(uses: Uses, messages: number): Cost {
  const callsOf = (some: readonly CountedUse[]): number => new Set(some.map(({ call }) => call)).size;
  const dollarsOf = (some: readonly CountedUse[]): number =>
    sum(some.map(({ unit, amount }) => dollarsPerMillion(unit, amount)));
  return {
    calls: perHandler((handler) => sum(uses[handler].map(callsOf)) / messages),
    dollars: perHandler((handler) => sum(uses[handler].map(dollarsOf)) / messages),
  };
}

/**
 * Stops this process's clock. A lane that was seen within 50 ms is not read again, so the number of reads would depend on the
 * machine.
 */
export async function withStoppedClock<T>(work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  const at = now();
  Date.now = () => at;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

const perHandler = <Value>(of: (handler: OnTheWay) => Value): PerHandler<Value> => ({
  publish: of('publish'),
  deliver: of('deliver'),
});

async function measureCpu(
  fixture: Fixture,
  backlog: Backlog,
  invokers: PerHandler<Invoker>,
): Promise<PerHandler<number>> {
  const measured: PerHandler<number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    measured.push(await cpuOf(fixture, backlog, invokers, messagesInRound));
  }
  return perHandler((handler) => median(measured.map((times) => times[handler])));
}

async function cpuOf(
  fixture: Fixture,
  backlog: Backlog,
  invokers: PerHandler<Invoker>,
  messages: number,
): Promise<PerHandler<number>> {
  const ms: Record<OnTheWay, number> = { publish: 0, deliver: 0 };
  await pass(fixture, backlog, messages, async (handler, events) => {
    ms[handler] += await invokers[handler].invoke(events);
  });
  return perHandler((handler) => ms[handler] / messages);
}
