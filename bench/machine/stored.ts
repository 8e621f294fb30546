/** Measures what waiting messages take: disk, time to start, memory, and the time of a backup and of a restore. */
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { startStage, type Stage } from '../../test/support/stage.ts';
import { cpuMsOf } from '../against/processCpu.ts';
import { BenchError } from '../benchError.ts';
import { copyMessages, fileMb, takeSamples, withStore } from './samples.ts';

const run = promisify(execFile);

export const storedHead =
  'waiting, file MB, s until ready, CPU s, after a kill, memory MB, counted, backup s, backup MB, restore s';

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);
const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

type Start = Readonly<Record<'seconds' | 'cpuSeconds', string>>;

/** Starts a stage after an orderly end, and again after a kill. @param command runs the stage */
export async function startTwice(dataDir: string, command: readonly string[]) {
  const start = async (): Promise<Start & { readonly stage: Stage }> => {
    const since = performance.now();
    const stage = await startStage({ dataDir, command });
    const took = seconds(since);
    return { stage, seconds: took, cpuSeconds: ((cpuMsOf([stage.pid]) ?? Number.NaN) / 1_000).toFixed(1) };
  };
  const orderly = await start();
  await orderly.stage.kill();
  return { orderly, killed: await start() };
}

/** @param command runs the stage */
export async function measureStored(
  folder: string,
  command: readonly string[],
  waiting: number,
): Promise<readonly string[]> {
  const dataDir = join(folder, 'data');
  const samples = await takeSamples(await startStage({ dataDir, command }));
  await withStore(dataDir, (store) => copyMessages(store, samples.waiting, waiting, Date.now()));
  const { orderly, killed } = await startTwice(dataDir, command);
  const { stage } = killed;
  const memory = ownMemory(stage.pid);
  if (waiting < mostCounted) await count(stage, samples.token, waiting);
  const counted = ownMemory(stage.pid);
  const file = join(folder, 'backup.tar.gz');
  const runs = async (...args: readonly string[]): Promise<string> => {
    const since = performance.now();
    await run(process.execPath, [...command.slice(0, -1), ...args]);
    return seconds(since);
  };
  const backup = await runs('backup', file, '--data-dir', dataDir);
  await stage.stop();
  const restored = await runs('restore', file, '--data-dir', join(folder, 'restored'));
  const size = megabytes(statSync(file).size);
  const ready = [orderly.seconds, orderly.cpuSeconds, killed.seconds];
  return [String(waiting), fileMb(dataDir).toFixed(0), ...ready, memory, counted, backup, size, restored];
}

/** Without the pages of the store's file, which the system frees when it needs memory. */
function ownMemory(pid: number): string {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kilobytes === undefined)
    throw new BenchError('This system does not say how much memory a process has.');
  return megabytes(Number(kilobytes) * 1_024);
}

const answer = z.object({ count: z.number() });

/** Above this number, counts are not exact: `lambdas/waiting/openMessages.ts`. */
const mostCounted = 500_000;

/** Counts until the result is exact. Each request continues where the one before stopped. */
async function count({ url }: Stage, token: string, waiting: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const answered = await fetch(`${url}/v2/messages/count`, { headers });
    if (answer.safeParse(await answered.json()).data?.count === waiting + 1) return;
    await setTimeout(100);
  }
}
