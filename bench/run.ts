/** `npm run bench`: prints figures with their goals, and fails if a counted figure misses its goal. */
import { argumentsOf } from '../cli/commandLine.ts';
import { compareWithRivals } from './against/compare.ts';
import { BenchError } from './benchError.ts';
import { printMonth } from './bill/print.ts';
import { measureCosts } from './costs.ts';
import { printGrowth } from './growth/print.ts';
import { printMachine } from './machine/print.ts';
import { parseOptions, type Task } from './options.ts';

async function measure(task: Task): Promise<readonly string[]> {
  switch (task.kind) {
    case 'costs':
      return measureCosts(task.parts);
    case 'month':
      await printMonth(task.month);
      return [];
    case 'againstRivals':
      await compareWithRivals(task.rivals);
      return [];
    case 'growth':
      return printGrowth();
    case 'machine':
      await printMachine();
      return [];
  }
}

const task = argumentsOf(parseOptions);
try {
  const missed = await measure(task);
  if (missed.length > 0) {
    console.log(`\nMissed: ${missed.join(' ')}`);
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof BenchError ? error.message : error);
  process.exitCode = 1;
}
