import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import manifest from '../../../../local/package.json' with { type: 'json' };
import { findDynoxide } from '../../../../local/dynamodb/dynoxide.ts';
import { startPackageRegistry, type PackageRegistry } from '../../../support/packageRegistry.ts';
import { runStage } from '../../../support/stage.ts';

const version = manifest.optionalDependencies['@dynoxide/linux-x64'];
const name = `@dynoxide/${process.platform}-${process.arch}`;

/** Makes the package as its maker publishes it, of the program that this machine has. */
async function packageOfThisMachine(folder: string): Promise<string> {
  const program = await findDynoxide(() => undefined);
  await cp(program, join(folder, basename(program)), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version }));
  return folder;
}

describe('a machine for which no database is installed', () => {
  let registry: PackageRegistry;
  let folder: string;
  // Outside of the project, where its packages are not found.
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-machine-'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'package-lock.json'), '{}');
    await cp(dirname(inject('bundledStage')), join(folder, 'stage'), { recursive: true });
    registry = await startPackageRegistry(await packageOfThisMachine(join(folder, 'published')));
    return async () => {
      await registry.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    };
  });

  const isReady = (output: string): boolean => /^SVC_MANAGEMENT_PASSWORD=.*\n/m.test(output);
  const start = (registryUrl: string) =>
    runStage(
      ['--port', '0', '--in-memory'],
      isReady,
      {
        npm_config_registry: registryUrl,
        npm_config_cache: join(folder, 'npm'),
        npm_config_fetch_retries: '0',
      },
      [join(folder, 'stage/stage.mjs')],
    );

  it('fetches the one of its kind, says so in one line, and keeps it for the next start', async () => {
    const first = await start(registry.url);
    expect(first.output()).toMatch(
      new RegExp(
        `^Fetching the local database, ${name} \\d+\\.\\d+\\.\\d+, this one time\\.\nThe service is ready`,
      ),
    );
    expect(registry.asked).toEqual([`/${name}`, '/package.tgz']);
    first.child.kill();
    await first.exited;
    const second = await start('http://127.0.0.1:9');
    expect(second.output()).toMatch(/^The service is ready/);
    second.child.kill();
    expect(await second.exited).toBe(0);
  });

  it('says in one sentence why it could not, leaves nothing half done, and tries again', async () => {
    await mkdir(join(folder, 'empty'));
    await writeFile(join(folder, 'empty/package.json'), '{"name":"other","version":"1.0.0"}');
    const without = await startPackageRegistry(join(folder, 'empty'));
    const refused = await start(without.url);
    await without.close();
    expect(await refused.exited).toBe(2);
    const [announced, sentence, ...more] = refused.output().trimEnd().split('\n');
    expect(announced).toContain('Fetching');
    expect(sentence).toMatch(
      /could not be fetched \(.*Not Found.*\): put dynoxide on the PATH, or set DYNAMODB_ENDPOINT/,
    );
    expect(more).toEqual([]);
    expect(await readdir(join(folder, '.cache'))).toEqual([]);
    const again = await start(registry.url);
    expect(again.output()).toContain('The service is ready');
    again.child.kill();
    await again.exited;
  });
});
