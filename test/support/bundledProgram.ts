import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { root } from './bundledStage.ts';

/**
 * Bundles a program whose imports are relative to the repository.
 *
 * @returns runs it in a process of its own, and gives what it printed
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
