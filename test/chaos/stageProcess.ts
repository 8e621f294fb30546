/** The local stage with faults, or a process of it, which the run controls and kills. */
import { openSync, readdirSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { runMember } from '../../local/cluster/member.ts';
import { startPrimary } from '../../local/cluster/primary.ts';
import { memberVariable } from '../../local/cluster/protocol.ts';
import { pending } from '../../local/pending.ts';
import { parseOptions } from '../../local/stage/options.ts';
import { startStage } from '../../local/stage/stage.ts';
import { controlStages } from '../../local/stage/testControl.ts';
import { takeOverClock } from '../support/testClock.ts';
import { clockSteps, type ClockSteps } from '../support/testControl.ts';
import { Chance, streamsOf } from './chance.ts';
import { connectionsWithin } from './connections.ts';
import { openFaultProxies } from './faultProxy.ts';
import { faultPlan } from './faults.ts';
import { FunctionThreads, ProcessDied } from './functionThreads.ts';
import { Line } from './line.ts';
import { toStage, type Measure, type ToRun, type ToStage } from './stageMessages.ts';

const line = new Line<ToRun, ToStage>({
  socket: connect(process.argv[2] ?? ''),
  parse: (message) => toStage.parse(message),
  onMessage: (message) => void obey(message),
});
// A killed run must not leave its stage behind.
void line.closed.then(() => process.kill(process.pid, 'SIGKILL'));

const realNow = Date.now;
const clock = takeOverClock();
const isControlled = pending();
let steps: ClockSteps | undefined;
let isStormy = false;
const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};

const isMember = process.env[memberVariable] !== undefined;
line.tell({ kind: 'hello', pid: process.pid, isMember });
const init = await line.told('init');
if (init === undefined) throw new Error('The run has ended.');
const { seed, number, processes, port, dataDirectory, threadFile } = init;
({ isStormy } = init);
clock.moveTo(realNow() + init.aheadMs);

const aheadMs = new BigInt64Array(new SharedArrayBuffer(8));
const followClock = (): void => {
  Atomics.store(aheadMs, 0, BigInt(Date.now() - realNow()));
};
followClock();
setInterval(followClock, 5);

const streams = streamsOf(seed);
const threads = new FunctionThreads({
  file: threadFile,
  aheadMs,
  chance: (what) => streams(`${number} ${what}`),
  twice: () => (isStormy ? 0.02 : 0),
  count,
});

controlStages((controlled) => {
  const made = clockSteps(controlled);
  steps = made;
  isControlled.resolve();
  return Promise.resolve({ url: '', leave: made.leave, close: () => Promise.resolve() });
});
const report = (error: unknown): void => {
  if (!(error instanceof ProcessDied)) console.error(error);
};
const plan = faultPlan({
  ...{ seed, number, count },
  isStormy: () => isStormy,
  kill: (caller) => threads.kill(caller),
});
const flags = ['--port', port, '--data-dir', dataDirectory, '--processes', processes];
const options = {
  ...parseOptions(flags.map(String), {}),
  announce: (sentence: string) => {
    console.log(sentence);
  },
  report,
  loadFunction: threads.load,
  openProxies: (urls: Parameters<typeof openFaultProxies>[0]) => openFaultProxies(urls, plan, report),
};
if (isMember) {
  runMember(options);
  void killFunctions();
} else if (processes === 1) {
  const { variables } = await startStage(options);
  void killFunctions();
  line.tell({ kind: 'ready', variables: { ...variables } });
} else {
  const { variables, replaceAll } = await startPrimary({ ...options, dataDirectory });
  process.on('SIGHUP', () => void replaceAll());
  line.tell({ kind: 'ready', variables: { ...variables } });
}

/** One of this many next writes to the store is the last. */
const mostWritesToDeath = 40;

async function obey(message: ToStage): Promise<void> {
  switch (message.kind) {
    case 'init':
      break;
    case 'storm':
    case 'calm':
      isStormy = message.kind === 'storm';
      break;
    case 'clock':
      clock.moveTo(realNow() + message.aheadMs);
      steps?.wake();
      line.tell({ kind: 'moved' });
      break;
    case 'settle':
      await isControlled.promise;
      line.tell({ kind: 'settled', next: (await steps?.settle()) ?? null });
      break;
    case 'measure':
      line.tell({ kind: 'measured', measure: await measure(), faults: Object.fromEntries(counts) });
      break;
    case 'lose power': {
      // It dies between a write to the store and its flush.
      const writes = new Chance(seed, `power ${number}`).from(1, mostWritesToDeath);
      writeSync(openSync(process.env['SVC_WRITE_MARKS'] ?? '', 'w'), `die ${writes}`);
    }
  }
}

/** Kills functions at random moments. */
async function killFunctions(): Promise<void> {
  const chance = new Chance(seed, `kills ${number}`);
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
