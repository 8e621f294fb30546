import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { BenchError } from '../benchError.ts';

const failure = z.object({ stderr: z.string() });

/**
 * Runs npm in a folder.
 *
 * @param what it installs, as the error says it
 * @throws BenchError with the first lines of npm's own error
 */
export async function npm(folder: string, what: string, args: readonly string[]): Promise<void> {
  console.log(`Installing ${what} ...`);
  try {
    await promisify(execFile)('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
    });
  } catch (error) {
    const lines = failure.safeParse(error).data?.stderr.match(/(?<=^npm error ).*\S/gm) ?? [String(error)];
    throw new BenchError(`npm could not install ${what}: ${lines.slice(0, 3).join(' ')}`, { cause: error });
  }
}
