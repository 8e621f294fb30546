/** The local stage with faults, in a process that the run starts, controls and kills. */
import { openSync, readdirSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { parseOptions } from '../../local/stage/options.ts';
import { startStage } from '../../local/stage/stage.ts';
import { controlStages } from '../../local/stage/testControl.ts';
import { takeOverClock } from '../support/testClock.ts';
import { startTestControl } from '../support/testControl.ts';
import { Chance, streamsOf } from './chance.ts';
import { connectionsWithin } from './connections.ts';
import { openFaultProxies } from './faultProxy.ts';
import { faultPlan } from './faults.ts';
import { FunctionThreads, ProcessDied } from './functionThreads.ts';
import type { Measure, StageInit, ToParent } from './stageMessages.ts';

const init = z
  .object({
    seed: z.number(),
    generation: z.number(),
    port: z.number(),
    dataDirectory: z.string(),
    aheadMs: z.number(),
    threadFile: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? '')) satisfies StageInit;

const tell = (message: ToParent): void => {
  process.send?.(message);
};

const realNow = Date.now;
// After a restart the clock continues.
Date.now = () => realNow() + init.aheadMs;
const aheadMs = new BigInt64Array(new SharedArrayBuffer(8));
const followClock = (): void => {
  Atomics.store(aheadMs, 0, BigInt(Date.now() - realNow()));
};
followClock();
setInterval(followClock, 5);

let isStormy = false;
const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};

const streams = streamsOf(init.seed);
const threads = new FunctionThreads({
  file: init.threadFile,
  aheadMs,
  chance: (what) => streams(`${init.generation} ${what}`),
  twice: () => (isStormy ? 0.02 : 0),
  count,
});

const clock = takeOverClock();
controlStages((controlled) => startTestControl({ ...controlled, clock }));
const options = parseOptions(['--port', String(init.port), '--data-dir', init.dataDirectory], {});
const report = (error: unknown): void => {
  if (!(error instanceof ProcessDied)) console.error(error);
};
const plan = faultPlan({
  ...init,
  isStormy: () => isStormy,
  kill: (caller) => threads.kill(caller),
  count,
});
const stage = await startStage({
  ...options,
  announce: () => undefined,
  report,
  loadFunction: threads.load,
  openProxies: (urls) => openFaultProxies(urls, plan, report),
});

/** One of this many next writes to the store is the last. */
const mostWritesToDeath = 40;

/** Makes the process die between a write to the store and its flush. */
function losePower(): void {
  const writes = new Chance(init.seed, `power ${init.generation}`).from(1, mostWritesToDeath);
  writeSync(openSync(process.env['SVC_WRITE_MARKS'] ?? '', 'w'), `die ${writes}`);
}

/** Kills functions at random moments. */
async function killFunctions(): Promise<void> {
  const chance = new Chance(init.seed, `kills ${init.generation}`);
  for (;;) {
    await setTimeout(chance.from(1_000, 6_000));
    if (isStormy) threads.killAny();
  }
}

async function measure(): Promise<Measure> {
  const ofThreads = await threads.measures();
  globalThis.gc?.();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const connections = connectionsWithin();
  return {
    heapMb: heapUsed / 2 ** 20,
    rssMb: rss / 2 ** 20,
    outsideMb: (rss - heapTotal) / 2 ** 20 - sum(ofThreads.map((one) => one.heapTotalMb)),
    descriptors: readdirSync('/proc/self/fd').length - 2 * connections,
    connections,
    threadConnections: Math.max(0, ...ofThreads.map((one) => one.connections)),
    threads: threads.size,
    threadHeapMb: Math.max(0, ...ofThreads.map((one) => one.heapMb)),
  };
}

// A killed run must not leave its stage behind.
process.on('disconnect', () => process.exit(1));
process.on('message', (message) => {
  if (message === 'storm') isStormy = true;
  if (message === 'calm') isStormy = false;
  if (message === 'lose power') losePower();
  if (message === 'measure') {
    void measure().then((taken) => {
      tell({ kind: 'measured', measure: taken, faults: Object.fromEntries(counts) });
    });
  }
});
void killFunctions();
tell({ kind: 'ready', variables: stage.variables });
