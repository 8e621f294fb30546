/** `svc-queue backup`: writes a stage's data into one file, even while the stage runs. */
import { backUp } from '../../local/backup/backUp.ts';
import { parseBackupOptions } from '../../local/backup/options.ts';
import { runOnStage } from '../runOnStage.ts';

export function run(args: readonly string[]): Promise<void> {
  const { file, dataDirectory } = parseBackupOptions('backup', args, process.env);
  return runOnStage(async () => {
    const { entries, madeAt } = await backUp(dataDirectory, file);
    console.log(`${file} has the ${entries} entries of ${dataDirectory}, as they were at ${madeAt}.`);
  });
}
