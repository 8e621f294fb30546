/** A run: traffic and faults from a seed, then calm, and finally the rules that must hold. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build } from 'esbuild';
import { bundling, root } from '../support/bundledStage.ts';
import { Chance } from './chance.ts';
import { flatness } from './flatness.ts';
import { attack } from './hostileClient.ts';
import { Ledger } from './ledger.ts';
import { startReceivers } from './receivers.ts';
import { StageHandle } from './stageHandle.ts';
import type { Measure } from './stageMessages.ts';
import { prepare, startLargeRun, TrafficClient, type ChaosFixture } from './traffic.ts';
import { neverStruck, struckKinds, type StruckFaults } from './struck.ts';
import { faultsFound, settle } from './verdict.ts';
import { startWorkflowApp } from './workflowApp.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly trafficMs: number;
  /** Normal clients. A hostile client runs beside them. */
  readonly clients: number;
  /** Parallel steps of the run that starts with the traffic. */
  readonly branches: number;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  /** The broken rules; empty if all is well. */
  readonly found: readonly string[];
  readonly lines: readonly string[];
}

async function bundle(folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: { stage: 'test/chaos/stageProcess.ts', thread: 'test/chaos/functionThread.ts' },
    outdir: folder,
    ...bundling,
  });
}

/** @throws if the run could not be made; its findings are in the report */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const bundles = await mkdtemp(join(root, '.cache', 'chaos-'));
  const folder = await mkdtemp(join(tmpdir(), 'svc-chaos-'));
  await bundle(bundles);
  const { seed } = options;
  const logFile = join(folder, 'stage.log');
  const stage = new StageHandle({
    seed,
    stageFile: join(bundles, 'stage.mjs'),
    threadFile: join(bundles, 'thread.mjs'),
    dataDirectory: join(folder, 'data'),
    logFile,
  });
  const receivers = await startReceivers(seed);
  try {
    await stage.start(true);
    const app = await startWorkflowApp(seed, stage, `${receivers.origin}/ask`);
    try {
      const ledger = new Ledger();
      const report = await runIn({ seed, stage, receivers, ledger, app }, options);
      if (report.found.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 10 });
      else options.say(`The stage's data and log stay in ${folder}.`);
      return report;
    } finally {
      await app.close();
    }
  } finally {
    await stage.close();
    await receivers.close();
    await rm(bundles, { recursive: true, force: true });
  }
}

async function runIn(
  fixture: ChaosFixture,
  { seed, trafficMs, clients, branches, say }: ChaosOptions,
): Promise<ChaosReport> {
  const { stage, receivers, ledger, app } = fixture;
  await prepare(fixture);
  await startLargeRun(fixture, branches);
  stage.tell('storm');
  let isOver = false;
  const attacking = attack(fixture, () => isOver);
  const traffic = Promise.all(
    Array.from({ length: clients }, (_, at) => new TrafficClient(fixture, at + 1).run(() => isOver)),
  );
  const { measures, jumps } = await storm(fixture, trafficMs, say).finally(() => {
    isOver = true;
  });
  await traffic;
  await attacking;
  receivers.calm();
  app.calm();
  // The measure also counts the faults so far.
  await stage.measure();
  stage.tell('calm');
  await settle(fixture, say);
  const found = await faultsFound(fixture, say);
  const last = await stage.measure();
  const struck = struckIn(fixture, jumps);
  const lines = [
    `seed ${seed}, ${Math.round(trafficMs / 1_000)} s of traffic, ${stage.generation} starts of the stage`,
    `${ledger.accepted.size} messages accepted, ${ledger.runs.size} runs, ${ledger.schedules.size} schedules`,
    `${receivers.callbacks.length} callbacks`,
    `answers: ${shown(ledger.statuses)}`,
    `destinations answered: ${shown(receivers.counts)}`,
    `faults that struck: ${shown(struckKinds(struck))}`,
    `by service: ${shown(new Map(Object.entries(stage.faults)))}`,
    ...[...measures.filter((_, at) => at % 5 === 0), last].map(told),
  ];
  return { found: [...found, ...neverStruck(struck), ...flatness(measures, last)], lines };
}

const shown = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ');

const told = (measure: Measure): string => {
  const { heapMb, rssMb, outsideMb, descriptors, connections, threadConnections, threads, threadHeapMb } =
    measure;
  return (
    `heap ${heapMb.toFixed(1)} MB, largest of a function ${threadHeapMb.toFixed(1)} MB, RSS ${rssMb.toFixed(0)} MB, ` +
    `${outsideMb.toFixed(0)} MB of it in no heap, ${descriptors} descriptors, ${connections} connections within it, ` +
    `the most of a function ${threadConnections}, ${threads} threads`
  );
};

const struckIn = ({ stage, receivers, app, ledger }: ChaosFixture, jumps: number): StruckFaults => ({
  ofStage: stage.faults,
  ofDestinations: receivers.counts,
  ofEndpoint: app.resets(),
  restarts: stage.kills,
  powerLosses: stage.canLosePower ? stage.powerLosses : undefined,
  jumps,
  refused: ledger.refusedAttacks,
  branches: app.branches(),
});

const measureEveryMs = 4_000;

/** How much longer the storm may continue until each kind of fault has struck. */
const mostLongerMs = 180_000;

/** Six ends of the stage make a job give up. A large run's jobs take minutes, so the stage ends less often. */
const mostEnds = 5;

/**
 * Kills the stage, cuts its power, and moves its clock, at moments from the seed. The stage ends only in the first half of the
 * traffic. In the second half, one process's memory and descriptors are measured.
 *
 * @returns the last process's measures, and how often the clock jumped
 */
async function storm(
  fixture: ChaosFixture,
  trafficMs: number,
  say: (line: string) => void,
): Promise<{ readonly measures: readonly Measure[]; readonly jumps: number }> {
  const { seed, stage } = fixture;
  const chance = new Chance(seed, 'kills and jumps');
  const wantedEnds = Math.max(2, Math.round(trafficMs / 45_000));
  const ends = Array.from({ length: Math.min(mostEnds, wantedEnds) }, (_, number) => ({
    at: chance.from(trafficMs * 0.1, trafficMs * 0.5),
    jumpMs: 0,
    // Every second end is a loss of power. The first one loses everything that is not on the disk, the others a part of it.
    kept: number % 2 === 0 || !stage.canLosePower ? undefined : number === 1 ? 0 : chance.from(0, 99) / 100,
  }));
  let lossesLeft = ends.filter(({ kept }) => kept !== undefined).length;
  const jumps: typeof ends = [];
  for (let at = chance.from(2_000, 15_000); at < trafficMs; at += chance.from(4_000, 25_000)) {
    jumps.push({ at, jumpMs: chance.from(1_000, 45_000), kept: undefined });
  }
  const startedAt = performance.now();
  const passedMs = (): number => performance.now() - startedAt;
  const over = new AbortController();
  const measuring = measureUntil(stage, over.signal);
  let jumped = 0;
  for (const { at, jumpMs, kept } of [...ends, ...jumps].toSorted((one, other) => one.at - other.at)) {
    await setTimeout(Math.max(0, at - passedMs()));
    const when = `${Math.round(passedMs() / 1_000)} s`;
    if (jumpMs > 0) {
      say(`${when}: the clock jumps by ${jumpMs} ms`);
      await stage.jump(jumpMs);
      jumped += 1;
    } else {
      if (kept === undefined) {
        await stage.kill();
        say(`${when}: the stage was killed`);
      } else {
        const lost = await stage.losePower(kept);
        say(
          `${when}: the stage lost its power and ${lost} sectors; ${Math.round(kept * 100)} % of what was not on the disk is kept`,
        );
        lossesLeft -= 1;
      }
      await stage.start(lossesLeft > 0);
      stage.tell('storm');
    }
  }
  await setTimeout(Math.max(0, trafficMs - passedMs()));
  while (neverStruck(struckIn(fixture, jumped)).length > 0 && passedMs() < trafficMs + mostLongerMs) {
    await setTimeout(500);
    await stage.measure();
  }
  over.abort();
  return { measures: await measuring, jumps: jumped };
}

async function measureUntil(stage: StageHandle, signal: AbortSignal): Promise<readonly Measure[]> {
  let measures: Measure[] = [];
  while (!signal.aborted) {
    const { generation } = stage;
    await setTimeout(measureEveryMs);
    // A killed stage returns nothing.
    const measure = await stage.measure().catch(() => undefined);
    if (measure === undefined || stage.generation !== generation) measures = [];
    else measures.push(measure);
  }
  return measures;
}
