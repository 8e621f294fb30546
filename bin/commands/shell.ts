/** `svc-queue shell`: prints what a shell needs for the commands in the documents. */
import { parseShell } from '../../operate/options.ts';
import { shellCode } from '../../operate/shell.ts';

export function run(args: readonly string[]): Promise<void> {
  process.stdout.write(shellCode(parseShell(args)));
  return Promise.resolve();
}
