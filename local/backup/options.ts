import { Option } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
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
  /** `-` means standard output or input. */
  readonly file: string;
  readonly dataDirectory: string;
  /** Whether a backup may replace an existing file. */
  readonly replaces: boolean;
  /** The account to restore, if not all are. */
  readonly account: string | undefined;
  /** Set if the command follows a folder of changes. `file` is then empty. */
  readonly follows:
    | { readonly folder: string; readonly everyMs: number; readonly isOnce: boolean }
    | undefined;
}

const path = textLike(/./, 'the path of a file');

const only = {
  backup: [
    new Option('--force', 'replace the file, if it exists'),
    new Option('--every <seconds>', 'with --follow: the time between two files, 1 to 3600 (5)').argParser(
      wholeNumber(1, 3_600),
    ),
  ],
  restore: [
    new Option('--account <id>', 'restore only this account').argParser(
      textLike(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'the id of an account, a UUID'),
    ),
  ],
} as const;

const onlyFlags = z.object({
  force: z._default(z.boolean(), false),
  every: z.optional(z.number()),
  account: z.optional(z.string()),
});

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
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue --account <id>
  svc-queue restore --follow /standby/svc-queue --data-dir /var/lib/svc-queue    (until SIGTERM; then start it)

Messages that were delivered after the backup are delivered again. With --account the data directory may have data: all that it has of
this account is replaced by what the backup has, and nothing else is changed.

Exit status: 0 done; 1 it failed; 2 wrong arguments, or a mistake named in the message. Nothing is changed unless it is 0.`,
} as const;

const about = {
  backup: 'Writes all data of a stage into one file, whether it is running or not, or follows its changes.',
  restore:
    'Restores a backup into an empty data directory, or one account into that of a stopped stage. Then start a stage with it.',
} as const;

const followed = {
  backup: 'write changes to this folder instead, until SIGTERM',
  restore: 'apply the files of this folder instead, and those to come, until SIGTERM',
} as const;

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
  for (const option of only[name]) one.addOption(option);
  const given = parse(one, args);
  const { dataDir, follow, once = false, ...others } = given.opts();
  const { force, every, account } = onlyFlags.parse(others);
  const [file] = given.processedArgs;
  if ((file === undefined) === (follow === undefined))
    throw new Ending('Allowed is either a file or --follow; --help lists the flags.', 2);
  const [isForFiles, isForFollowing] = [force || account !== undefined, once || every !== undefined];
  if (follow === undefined ? isForFollowing : isForFiles)
    throw new Ending(
      '--force and --account are for a file, and --every and --once are for --follow; --help lists the flags.',
      2,
    );
  return {
    file: file ?? '',
    dataDirectory: dataDirectoryOf(dataDir, environment),
    replaces: force,
    account: account?.toLowerCase(),
    follows:
      follow === undefined ? undefined : { folder: follow, everyMs: (every ?? 5) * 1_000, isOnce: once },
  };
}
