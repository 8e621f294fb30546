import { command, dataDirectoryOf, folder, parse, textLike } from '../../cli/commandLine.ts';

interface BackupOptions {
  readonly file: string;
  readonly dataDirectory: string;
}

const path = textLike(/./, 'the path of a file');

const examples = {
  backup: `
Examples:
  svc-queue backup /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  0 3 * * * svc-queue backup "/backups/$(date +\\%F).tar.gz" --data-dir /var/lib/svc-queue    (in a crontab)

The stage keeps running during the backup. The file has all messages and all secrets: keep it as safe as the data directory.

Exit status: 0 the backup is made and can be read; 1 it failed; 2 wrong arguments, or a mistake named in the message.`,
  restore: `
Examples:
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  svc-queue start --data-dir /var/lib/svc-queue

Messages that were delivered after the backup are delivered again.

Exit status: 0 done; 1 it failed; 2 wrong arguments, or a mistake named in the message. Nothing is changed unless it is 0.`,
} as const;

const about = {
  backup: 'Writes all data of a stage into one file, whether it is running or not.',
  restore: 'Restores a backup into an empty data directory. Then start a stage with it.',
} as const;

/** @throws Ending */
export function parseBackupOptions(
  name: keyof typeof about,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): BackupOptions {
  const given = parse(
    command(name, about[name])
      .argument('<file>', 'the file of the backup, a tar.gz', path)
      .option('--data-dir <folder>', 'the data directory of the stage (SVC_DATA_DIR; .svc)', folder)
      .addHelpText('after', examples[name]),
    args,
  );
  return {
    file: given.processedArgs[0],
    dataDirectory: dataDirectoryOf(given.opts().dataDir, environment),
  };
}
