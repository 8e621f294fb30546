import { command, fromVariable, parse, textLike } from '../../cli/commandLine.ts';

const folder = textLike(/./, 'the path of a folder');

const help = `
Examples:
  svc-queue check --data-dir /var/lib/svc-queue

It looks at each page and entry of the store, and whether rows, jobs, lines and indexes agree. The stage must be stopped. Nothing is changed.

Exit status: 0 all is well; 1 something is wrong, and sentences say what; 2 wrong arguments, or a mistake that the sentence names.`;

/** @throws Ending */
export function parseCheckOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly dataDirectory: string } {
  const { dataDir } = parse(
    command('check', 'Looks at all that a stage keeps, and says what is wrong with it.')
      .option('--data-dir <folder>', 'the data directory of the stage (SVC_DATA_DIR; .svc)', folder)
      .addHelpText('after', help),
    args,
  ).opts();
  return { dataDirectory: dataDir ?? fromVariable(environment, 'SVC_DATA_DIR', folder) ?? '.svc' };
}
