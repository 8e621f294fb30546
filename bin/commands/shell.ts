/** `svc-queue shell`: what an operator's shell needs for the commands of the documents. */
import { parseShell } from '../../operate/options.ts';
import { shellCode } from '../../operate/shell.ts';

export function run(args: readonly string[]): Promise<void> {
  process.stdout.write(shellCode(parseShell(args)));
  return Promise.resolve();
}
