/** `svc-queue backup`, `restore` and `check`: a stage's data in one file, from a file, and checked for damage. */
import { backUp, restore, streamBackup } from '../../local/backup/backUp.ts';
import { follow } from '../../local/backup/follow.ts';
import { restoreAccount } from '../../local/backup/restoreAccount.ts';
import { parseBackupOptions } from '../../local/backup/options.ts';
import { standBy } from '../../local/backup/standBy.ts';
import { check } from '../../local/check/check.ts';
import { parseCheckOptions } from '../../local/check/options.ts';
import { StageError } from '../../local/stage/stageError.ts';
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
  const isBackup = name === 'backup';
  const { file, dataDirectory, replaces, account, follows } = parseBackupOptions(
    isBackup ? 'backup' : 'restore',
    args,
    process.env,
  );
  if (follows !== undefined) {
    const ended = new AbortController();
    const end = (): void => {
      ended.abort();
    };
    if (follows.isOnce) end();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
    const options = { ...follows, dataDirectory, signal: ended.signal, announce: console.log };
    return runOnStage(() => (isBackup ? follow(options) : standBy(options)));
  }
  const isStream = file === '-';
  return runOnStage(async () => {
    if (isBackup) {
      if (isStream && process.stdout.isTTY)
        throw new StageError('The standard output is a terminal: pass the backup on with | or >.');
      const { entries, madeAt } = isStream
        ? await streamBackup(dataDirectory, process.stdout)
        : await backUp(dataDirectory, file, replaces);
      const said = `the ${entries} entries of ${dataDirectory}, as they were at ${madeAt}.`;
      if (isStream) console.error(`The backup has ${said}`);
      else console.log(`${file} has ${said}`);
      return;
    }
    const source = isStream ? process.stdin : file;
    const { entries, madeAt, version } =
      account === undefined
        ? await restore(source, dataDirectory)
        : await restoreAccount(source, dataDirectory, account);
    const whose = account === undefined ? '' : `of the account ${account} `;
    console.log(
      `${dataDirectory} has the ${entries} entries ${whose}of the backup of ${madeAt}, made by version ${version}. ` +
        `Start it: svc-queue start --data-dir ${dataDirectory}`,
    );
  });
}
