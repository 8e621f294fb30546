import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { root } from './bundledStage.ts';

/**
 * Bundles a program with imports relative to the repository.
 *
 * @returns a function that runs it in a separate process, and returns its output
 */
export async function bundledProgram(
  program: string,
): Promise<(env?: Readonly<Record<string, string>>) => Promise<string>> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
  });
  const args = ['--input-type=module', '--eval', outputFiles[0]?.text ?? ''];
  return async (env) => (await promisify(execFile)(process.execPath, args, { ...(env && { env }) })).stdout;
}
