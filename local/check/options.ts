import { command, dataDirectoryOf, folder, parse } from '../../cli/commandLine.ts';

const help = `
Examples:
  svc-queue check --data-dir /var/lib/svc-queue

It checks each page and entry of the store, and whether rows, jobs, lines and indexes agree. If the stage runs, it checks all entries
as they are at one moment, and no pages. Nothing is changed.

Exit status: 0 all is well; 1 something is wrong, as the output says; 2 wrong arguments, or a mistake named in the message.`;

export function parseCheckOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly dataDirectory: string } {
  const { dataDir } = parse(
    command('check', 'Checks all data of a stage, and reports what is wrong.')
      .option('--data-dir <folder>', 'the data directory of the stage (SVC_DATA_DIR; .svc)', folder)
      .addHelpText('after', help),
    args,
  ).opts();
  return { dataDirectory: dataDirectoryOf(dataDir, environment) };
}
