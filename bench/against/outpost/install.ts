/** Builds Outpost from its Go module into `.cache`. */
import { delimiter, join } from 'node:path';
import { makeOnce } from '../install/makeOnce.ts';
import { runInstaller } from '../install/run.ts';

export const outpostVersion = '1.8.0';
const program = 'outpost-server';
const module = `github.com/hookdeck/outpost/cmd/${program}@v${outpostVersion}`;
const cache = join(import.meta.dirname, '../../../.cache/bench/outpost');

/**
 * @returns the path of the server
 * @throws BenchError if Go is missing or the module is not available
 */
export async function installOutpost(): Promise<string> {
  const folder = await makeOnce(join(cache, outpostVersion), async (draft) => {
    console.log('Installing Outpost ...');
    await runInstaller({
      program: 'go',
      args: ['install', module],
      cwd: draft,
      env: { GOBIN: draft, PATH: [process.env['PATH'], '/usr/local/go/bin'].join(delimiter) },
      what: 'Outpost',
    });
  });
  return join(folder, program);
}
