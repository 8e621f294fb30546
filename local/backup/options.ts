import { Option } from '@commander-js/extra-typings';
import * as z from 'zod/mini';
import { command, dataDirectoryOf, folder, parse, textLike } from '../../cli/commandLine.ts';

interface BackupOptions {
  /** `-` is the standard output or input. */
  readonly file: string;
  readonly dataDirectory: string;
  /** Whether a backup may replace an existing file. */
  readonly replaces: boolean;
  /** The only account to restore. */
  readonly account: string | undefined;
}

const path = textLike(/./, 'the path of a file');

const replacing = new Option('--force', 'replace the file, if it exists');

const onlyOne = new Option('--account <id>', 'restore only this account').argParser(
  textLike(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'the id of an account, a UUID'),
);

const examples = {
  backup: `
Examples:
  svc-queue backup /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  0 3 * * * svc-queue backup "/backups/$(date +\\%F).tar.gz" --data-dir /var/lib/svc-queue    (in a crontab)
  svc-queue backup - --data-dir /var/lib/svc-queue | ssh other 'cat > svc-queue.tar.gz'

The stage keeps running during the backup. The file has all messages and all secrets: keep it as safe as the data directory. The
status of a backup to the standard output says whether what was written is whole: a script needs "set -o pipefail".

Exit status: 0 the backup is made and can be read; 1 it failed; 2 wrong arguments, or a mistake named in the message.`,
  restore: `
Examples:
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  ssh other cat svc-queue.tar.gz | svc-queue restore - --data-dir /var/lib/svc-queue
  svc-queue start --data-dir /var/lib/svc-queue
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue --account <id>

Messages that were delivered after the backup are delivered again. With --account the data directory may have data: all that it has of
this account is replaced by what the backup has, and nothing else is changed.

Exit status: 0 done; 1 it failed; 2 wrong arguments, or a mistake named in the message. Nothing is changed unless it is 0.`,
} as const;

const about = {
  backup: 'Writes all data of a stage into one file, whether it is running or not.',
  restore:
    'Restores a backup into an empty data directory, or one account into that of a stopped stage. Then start a stage with it.',
} as const;

/** @throws Ending */
export function parseBackupOptions(
  name: keyof typeof about,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): BackupOptions {
  const one = command(name, about[name])
    .argument(
      '<file>',
      `the file of the backup, a tar.gz; - is the standard ${name === 'backup' ? 'output' : 'input'}`,
      path,
    )
    .option('--data-dir <folder>', 'the data directory of the stage (SVC_DATA_DIR; .svc)', folder)
    .addHelpText('after', examples[name]);
  one.addOption(name === 'backup' ? replacing : onlyOne);
  const given = parse(one, args);
  const { dataDir, ...others } = given.opts();
  return {
    file: given.processedArgs[0],
    dataDirectory: dataDirectoryOf(dataDir, environment),
    replaces: 'force' in others,
    account: z
      .object({ account: z.optional(z.string()) })
      .parse(others)
      .account?.toLowerCase(),
  };
}
