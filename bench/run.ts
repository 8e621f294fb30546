/** `npm run bench`: prints figures with their goals, and fails where a counted one is missed. */
import { compareWithBullmq } from './against/bullmq/compare.ts';
import { compareWithCommit } from './against/commit/compare.ts';
import { BenchError } from './benchError.ts';
import { measureCosts } from './costs.ts';
import { printGrowth } from './growth/print.ts';
import { parseOptions, usage, type Task } from './options.ts';

/** Prints an error: its sentence alone where the reader can correct the cause, otherwise with its stack. */
function fail(error: unknown, exitCode: number): void {
  console.error(error instanceof BenchError ? error.message : error);
  process.exitCode = exitCode;
}

/** @returns the counted goals that are missed, as sentences */
async function measure(task: Task): Promise<readonly string[]> {
  switch (task.kind) {
    case 'help':
      console.log(usage);
      return [];
    case 'costs':
      return measureCosts(task.parts);
    case 'againstCommit':
      await compareWithCommit(task.commit);
      return [];
    case 'againstBullmq':
      await compareWithBullmq();
      return [];
    case 'growth':
      return printGrowth();
  }
}

function readTask(): Task | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    fail(error, 2);
    return undefined;
  }
}

const task = readTask();
if (task !== undefined) {
  try {
    const missed = await measure(task);
    if (missed.length > 0) {
      console.log(`\nMissed: ${missed.join(' ')}`);
      process.exitCode = 1;
    }
  } catch (error) {
    fail(error, 1);
  }
}
