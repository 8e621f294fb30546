/** `svc-queue backup`, `restore` and `check`: a stage's data in one file, from a file, and checked for damage. */
import { backUp, restore } from '../../local/backup/backUp.ts';
import { parseBackupOptions } from '../../local/backup/options.ts';
import { check } from '../../local/check/check.ts';
import { parseCheckOptions } from '../../local/check/options.ts';
import { runOnStage } from '../runOnStage.ts';

/** @param args begins with the command's name */
export function run([name, ...args]: readonly string[]): Promise<void> {
  if (name === 'check') {
    const { dataDirectory } = parseCheckOptions(args, process.env);
    return runOnStage(async () => {
      const { counts, problems } = await check(dataDirectory);
      for (const [what, number] of Object.entries(counts)) console.log(`${number} ${what}`);
      for (const problem of problems) console.error(problem);
      if (problems.length > 0) process.exitCode = 1;
      else console.log(`${dataDirectory} is whole.`);
    });
  }
  const { file, dataDirectory } = parseBackupOptions(name === 'backup' ? name : 'restore', args, process.env);
  return runOnStage(async () => {
    if (name === 'backup') {
      const { entries, madeAt } = await backUp(dataDirectory, file);
      console.log(`${file} has the ${entries} entries of ${dataDirectory}, as they were at ${madeAt}.`);
      return;
    }
    const { entries, madeAt, version } = await restore(file, dataDirectory);
    console.log(
      `${dataDirectory} has the ${entries} entries of the backup of ${madeAt}, made by version ${version}. ` +
        `Start it: svc-queue start --data-dir ${dataDirectory}`,
    );
  });
}
