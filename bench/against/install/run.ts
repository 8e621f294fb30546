import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { BenchError } from '../../benchError.ts';

const failure = z.object({ stderr: z.string() });
/** Bytes. Installers print much. */
const maxBuffer = 64 * 1024 * 1024;

interface Installer {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The name of the installed program, for the error message. */
  readonly what: string;
  /** The lines of its errors that give the reason. */
  readonly reasons?: RegExp;
}

/**
 * Runs an installer.
 *
 * @returns its output
 * @throws BenchError with the first lines of its error
 */
export async function runInstaller(installer: Installer): Promise<string> {
  const { program, args, cwd, env, what, reasons = /^.*\S/gm } = installer;
  try {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const lines = failure.safeParse(error).data?.stderr.match(reasons) ?? [String(error)];
    throw new BenchError(`${program} could not install ${what}: ${lines.slice(0, 3).join(' ')}`, {
      cause: error,
    });
  }
}
