/** `svc-queue restore`: restores a backup into a data directory. */
import { restore } from '../../local/backup/backUp.ts';
import { parseBackupOptions } from '../../local/backup/options.ts';
import { runOnStage } from '../runOnStage.ts';

export function run(args: readonly string[]): Promise<void> {
  const { file, dataDirectory } = parseBackupOptions('restore', args, process.env);
  return runOnStage(async () => {
    const { entries, madeAt, version } = await restore(file, dataDirectory);
    console.log(
      `${dataDirectory} has the ${entries} entries of the backup of ${madeAt}, made by version ${version}. ` +
        `Start it: svc-queue start --data-dir ${dataDirectory}`,
    );
  });
}
