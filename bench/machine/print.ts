/**
 * Measures a stage on one machine: how long a restart takes, how its data grow from day to day, and how a large run affects
 * others.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStage } from '../../test/support/stage.ts';
import { bundleStage } from '../bundledStage.ts';
import { formatTable } from '../table.ts';
import { measureBesideRun } from './besideRun.ts';
import { passDays } from './days.ts';
import { fileMb, takeSamples } from './samples.ts';
import { measureStored, startTwice, storedHead } from './stored.ts';

/** A message's rows are kept for 14 days: six for retries, seven in the log, and one more. */
const days = 18;
const shownDays = new Set([1, 7, 14, 15, 16, 17, 18]);

/** Goals: the stage is ready within 3 s with 100,000 messages, and within 10 s with a million. */
const waiting = [10_000, 100_000, 1_000_000];
/** Two numbers of messages, to see whether the stored data grows in proportion. */
const messagesADay = [1_000, 3_000];
/** Parallel steps of a run. The goal for 900: all delivered within 60 s, a p99 under 1 s, and no failures. */
const branches = [300, 900];

export async function printMachine(): Promise<void> {
  const command = await bundleStage();
  const starts: (readonly string[])[] = [];
  const measure = async (dataDir: string, there: string): Promise<void> => {
    const { orderly, killed } = await startTwice(dataDir, command);
    const mb = fileMb(dataDir).toFixed(0);
    starts.push([there, 'an orderly end', orderly.seconds, orderly.cpuSeconds, mb]);
    starts.push([there, 'a kill', killed.seconds, killed.cpuSeconds, mb]);
    await killed.stage.stop();
  };
  const stored: (readonly string[])[] = [];
  for (const number of waiting)
    await inFolder(async (folder) => void stored.push(await measureStored(folder, command, number)));
  const kept: (readonly string[])[] = [];
  for (const perDay of messagesADay) {
    await inFolder(async (dataDir) => {
      const samples = await takeSamples(await startStage({ dataDir, command }));
      for (const one of await passDays(dataDir, samples, { days, messagesADay: perDay })) {
        if (!shownDays.has(one.day)) continue;
        kept.push([String(perDay), String(one.day), String(one.deletedRows), one.fileMb.toFixed(1)]);
      }
      await measure(dataDir, `${14 * perDay} delivered`);
    });
  }
  const noticed: (readonly string[])[] = [];
  for (const number of branches) {
    await inFolder(async (dataDir) => {
      const stage = await startStage({ dataDir, command });
      const { delivered, seconds, p99, longest, failed } = await measureBesideRun(stage, number);
      await stage.stop();
      const figures = [number, delivered, seconds.toFixed(1), p99.toFixed(0), longest.toFixed(0), failed];
      noticed.push(figures.map(String));
    });
  }
  const print = (title: string, head: string, rows: readonly (readonly string[])[], left: number): void => {
    console.log(`${title}\n\n${formatTable(head.split(', '), rows, left)}\n`);
  };
  print('What waiting messages take', storedHead, stored, 0);
  print('A stage on one machine is ready again', 'messages, after, s until ready, CPU s, file MB', starts, 2);
  print('What it keeps', 'messages a day, day, rows deleted, file MB', kept, 0);
  const figures = 'parallel steps, delivered, in s, p99 ms, longest ms, failed';
  print("What another account's publishes notice of a run", figures, noticed, 0);
}

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  try {
    await work(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
}
