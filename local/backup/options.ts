import { command, fromVariable, parse, textLike } from '../../cli/commandLine.ts';

export interface BackupOptions {
  readonly file: string;
  readonly dataDirectory: string;
}

const path = textLike(/./, 'the path of a file');
const folder = textLike(/./, 'the path of a folder');

const examples = {
  backup: `
Examples:
  svc-queue backup /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  0 3 * * * svc-queue backup "/backups/$(date +\\%F).tar.gz" --data-dir /var/lib/svc-queue    (in a crontab)

The stage goes on while its backup is made. The file has all messages and all secrets: keep it as safe as the data directory.

Exit status: 0 the backup is made and can be read; 1 it failed; 2 wrong arguments, or a mistake that the sentence names.`,
  restore: `
Examples:
  svc-queue restore /backups/svc-queue.tar.gz --data-dir /var/lib/svc-queue
  svc-queue start --data-dir /var/lib/svc-queue

What was delivered after the backup was made is delivered again.

Exit status: 0 done; 1 it failed; 2 wrong arguments, or a mistake that the sentence names. Nothing is changed unless it is 0.`,
} as const;

const about = {
  backup: 'Writes all that a stage keeps into one file, while it runs or when it does not.',
  restore: 'Puts a backup into a data directory that has no data. Start a stage with it then.',
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
  const { dataDir } = given.opts();
  return {
    file: given.processedArgs[0],
    dataDirectory: dataDir ?? fromVariable(environment, 'SVC_DATA_DIR', folder) ?? '.svc',
  };
}
