import { Option } from '@commander-js/extra-typings';
import {
  command,
  dataDirectoryOf,
  Ending,
  folder,
  parse,
  textLike,
  wholeNumber,
} from '../../cli/commandLine.ts';

interface BackupOptions {
  /** `-` is the standard output or input. */
  readonly file: string;
  readonly dataDirectory: string;
  /** Whether a backup may replace an existing file. */
  readonly replaces: boolean;
  /** How to follow a stage, instead of the file. */
  readonly follows:
    | { readonly folder: string; readonly everyMs: number; readonly isOnce: boolean }
    | undefined;
}

const path = textLike(/./, 'the path of a file');

const forBackups = [
  new Option('--force', 'replace the file, if it exists'),
  new Option('--every <seconds>', 'with --follow: the time between two files, 1 to 3600 (5)').argParser(
    wholeNumber(1, 3_600),
  ),
];

const examples = {
  backup: `
Examples:
  svc-queue backup /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  0 3 * * * svc-queue backup "/backups/$(date +\\%F).tar.gz" --data-dir /var/lib/svc-queue    (in a crontab)
  svc-queue backup - --data-dir /var/lib/svc-queue | ssh other 'cat > svc-queue.tar.gz'
  svc-queue backup --follow /mnt/other/svc-queue --data-dir /var/lib/svc-queue

The stage keeps running during the backup. The file has all messages and all secrets: keep it as safe as the data directory. The
status of a backup to the standard output says whether what was written is whole: a script needs "set -o pipefail".

Exit status: 0 the backup is made and can be read; 1 it failed; 2 wrong arguments, or a mistake named in the message.`,
  restore: `
Examples:
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  ssh other cat svc-queue.tar.gz | svc-queue restore - --data-dir /var/lib/svc-queue
  svc-queue start --data-dir /var/lib/svc-queue
  svc-queue restore --follow /standby/svc-queue --data-dir /var/lib/svc-queue    (until SIGTERM; then start it)

Messages that were delivered after the backup are delivered again.

Exit status: 0 done; 1 it failed; 2 wrong arguments, or a mistake named in the message. Nothing is changed unless it is 0.`,
} as const;

const about = {
  backup: 'Writes all data of a stage into one file, whether it is running or not, or follows its changes.',
  restore: 'Restores a backup into an empty data directory. Then start a stage with it.',
} as const;

const followed = {
  backup: 'write changes to this folder instead, until SIGTERM',
  restore: 'apply the files of this folder instead, and those to come, until SIGTERM',
} as const;

/** @throws Ending */
export function parseBackupOptions(
  name: keyof typeof about,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): BackupOptions {
  const one = command(name, about[name])
    .argument(
      '[file]',
      `the file of the backup, a tar.gz; - is the standard ${name === 'backup' ? 'output' : 'input'}`,
      path,
    )
    .option('--data-dir <folder>', 'the data directory of the stage (SVC_DATA_DIR; .svc)', folder)
    .option('--follow <folder>', followed[name], folder)
    .option('--once', 'with --follow: end when the folder is up to date')
    .addHelpText('after', examples[name]);
  if (name === 'backup') for (const option of forBackups) one.addOption(option);
  const given = parse(one, args);
  const { dataDir, follow, once = false, ...others } = given.opts();
  const [file] = given.processedArgs;
  if ((file === undefined) === (follow === undefined))
    throw new Ending('Allowed is either a file or --follow; --help lists the flags.', 2);
  const every = 'every' in others && typeof others.every === 'number' ? others.every : undefined;
  const [isForFiles, isForFollowing] = ['force' in others, once || every !== undefined];
  if (follow === undefined ? isForFollowing : isForFiles)
    throw new Ending(
      '--force is for a file, and --every and --once are for --follow; --help lists the flags.',
      2,
    );
  return {
    file: file ?? '',
    dataDirectory: dataDirectoryOf(dataDir, environment),
    replaces: isForFiles,
    follows:
      follow === undefined ? undefined : { folder: follow, everyMs: (every ?? 5) * 1_000, isOnce: once },
  };
}
