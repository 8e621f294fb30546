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
  /** Processes of the stage that share the work. */
  readonly processes: number;
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
  const { seed, processes } = options;
  const stage = new StageHandle({
    ...{ seed, processes },
    stageFile: join(bundles, 'stage.mjs'),
    threadFile: join(bundles, 'thread.mjs'),
    dataDirectory: join(folder, 'data'),
    logFile: join(folder, 'stage.log'),
    socketFile: join(folder, 'line'),
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
  { seed, processes, trafficMs, clients, branches, say }: ChaosOptions,
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
  const { measures, jumps } = await storm(fixture, { trafficMs, processes, say }).finally(() => {
    isOver = true;
  });
  await traffic;
  await attacking;
  receivers.calm();
  app.calm();
  // Counts the faults so far, too.
  await stage.measure();
  stage.tell('calm');
  await settle(fixture, say);
  const found = [...(await faultsFound(fixture, say))];
  const last = await stage.measure();
  if (last.size !== processes) found.push(`In the end ${last.size} processes work instead of ${processes}.`);
  const struck = struckIn(fixture, { jumps, processes });
  const seriesOf = (number: number): readonly Measure[] => measures.get(number) ?? [];
  const lines = [
    `seed ${seed}, processes: ${processes}, ${Math.round(trafficMs / 1_000)} s of traffic, ${stage.generation} starts of the stage`,
    `${ledger.accepted.size} messages accepted, ${ledger.runs.size} runs, ${ledger.schedules.size} schedules`,
    `${receivers.callbacks.length} callbacks`,
    `answers: ${shown(ledger.statuses)}`,
    `destinations answered: ${shown(receivers.counts)}`,
    `faults that struck: ${shown(struckKinds(struck))}`,
    `by service: ${shown(new Map(Object.entries(stage.faults)))}`,
    ...[...last].flatMap(([number, measure]) => [
      `process ${number}:`,
      ...[...seriesOf(number).filter((_, at) => at % 5 === 0), measure].map(told),
    ]),
  ];
  const leaks = [...last].flatMap(([number, measure]) => flatness(seriesOf(number), measure));
  return { found: [...found, ...neverStruck(struck), ...leaks], lines };
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

const struckIn = (
  { stage, receivers, app, ledger }: ChaosFixture,
  { jumps, processes }: { readonly jumps: number; readonly processes: number },
): StruckFaults => ({
  ofStage: stage.faults,
  ofDestinations: receivers.counts,
  ofEndpoint: app.resets(),
  restarts: stage.kills,
  powerLosses: stage.canLosePower ? stage.powerLosses : undefined,
  ofMembers: processes === 1 ? undefined : { killed: stage.memberKills, replaced: stage.replacements },
  jumps,
  refused: ledger.refusedAttacks,
  branches: app.branches(),
});

const measureEveryMs = 4_000;

/** How much longer the storm may continue until each kind of fault has struck. */
const mostLongerMs = 180_000;

/**
 * After six deaths of the stage, a job is given up. The jobs of a large run take minutes, so the stage is
 * killed less often.
 */
const mostEnds = 5;

/** The ends of the processes, in turn. `replace`: new members replace the others one after another. */
const endsOf = {
  one: ['kill', 'power'],
  several: ['member', 'power', 'replace', 'kill', 'member'],
} as const;
type End = (typeof endsOf)['several'][number];

/**
 * Kills the stage or members, cuts its power, and moves its clock, at moments from the seed. Processes end only in the first half
 * of the traffic: the second half measures their memory and descriptors.
 *
 * @returns the last processes' measures, and how often the clock jumped
 */
async function storm(
  fixture: ChaosFixture,
  { trafficMs, processes, say }: Pick<ChaosOptions, 'trafficMs' | 'processes' | 'say'>,
): Promise<{ readonly measures: ReadonlyMap<number, readonly Measure[]>; readonly jumps: number }> {
  const { seed, stage } = fixture;
  const chance = new Chance(seed, 'kills and jumps');
  const kinds: readonly End[] = processes === 1 ? endsOf.one : endsOf.several;
  const wantedEnds = Math.max(kinds.length, Math.round(trafficMs / 45_000));
  const events: { readonly at: number; readonly act: (when: string) => unknown }[] = [];
  let lossesLeft = 0;
  for (let number = 0; number < Math.min(mostEnds, wantedEnds); number += 1) {
    const at = chance.from(trafficMs * 0.1, trafficMs * 0.5);
    const kind = kinds[number % kinds.length] ?? 'kill';
    if (kind === 'power' && stage.canLosePower) {
      lossesLeft += 1;
      // The first loss of power loses everything that is not on the disk, the others a part of it.
      const kept = number === 1 ? 0 : chance.from(0, 99) / 100;
      events.push({ at, act: (when) => losePower(kept, when) });
    } else {
      events.push({ at, act: { kill, power: kill, member: killMember, replace }[kind] });
    }
  }
  for (let at = chance.from(2_000, 15_000); at < trafficMs; at += chance.from(4_000, 25_000)) {
    const jumpMs = chance.from(1_000, 45_000);
    events.push({ at, act: (when) => jump(jumpMs, when) });
  }
  const startedAt = performance.now();
  const passedMs = (): number => performance.now() - startedAt;
  const over = new AbortController();
  const measuring = measureUntil(stage, over.signal);
  let jumps = 0;
  let replacing: Promise<void> | undefined;
  for (const { at, act } of events.toSorted((one, other) => one.at - other.at)) {
    await setTimeout(Math.max(0, at - passedMs()));
    await act(`${Math.round(passedMs() / 1_000)} s`);
  }
  await setTimeout(Math.max(0, trafficMs - passedMs()));
  await replacing;
  // A kill may have ended the replacement.
  if (processes > 1 && stage.replacements === 0) await stage.replaceMembers();
  while (
    neverStruck(struckIn(fixture, { jumps, processes })).length > 0 &&
    passedMs() < trafficMs + mostLongerMs
  ) {
    await setTimeout(500);
    await stage.measure();
  }
  over.abort();
  return { measures: await measuring, jumps };

  async function kill(when: string): Promise<void> {
    await stage.kill();
    say(`${when}: the stage was killed`);
    await startAgain();
  }

  async function losePower(kept: number, when: string): Promise<void> {
    const lost = await stage.losePower(kept);
    lossesLeft -= 1;
    say(
      `${when}: the stage lost its power and ${lost} sectors; ${Math.round(kept * 100)} % of what was not on the disk is kept`,
    );
    await startAgain();
  }

  async function startAgain(): Promise<void> {
    await stage.start(lossesLeft > 0);
    stage.tell('storm');
  }

  async function killMember(when: string): Promise<void> {
    await stage.killMember();
    say(`${when}: a process of the stage was killed`);
  }

  function replace(when: string): void {
    say(`${when}: the processes of the stage are replaced`);
    // Other events are not delayed by it.
    replacing = stage.replaceMembers();
  }

  async function jump(jumpMs: number, when: string): Promise<void> {
    say(`${when}: the clock jumps by ${jumpMs} ms`);
    await stage.jump(jumpMs);
    jumps += 1;
  }
}

/** Measures the processes. A killed one returns nothing, and ends its series. */
async function measureUntil(
  stage: StageHandle,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly Measure[]>> {
  const series = new Map<number, Measure[]>();
  while (!signal.aborted) {
    await setTimeout(measureEveryMs);
    for (const [number, measure] of await stage.measure()) {
      series.set(number, [...(series.get(number) ?? []), measure]);
    }
  }
  return series;
}
