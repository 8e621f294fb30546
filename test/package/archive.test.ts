/** The archive of `npm pack`: everything that an app and the command need, prebuilt, and nothing else. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { installPackages } from '../../bench/against/install.ts';
import { handlersDirectory } from '../../lib/bundle.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { root } from '../infra/app.ts';

const linters = { publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' };

/** The installed package's manifest. */
const manifestShape = z.object({
  private: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })),
  scripts: z.record(z.string(), z.string()),
});

/** The location of each function's files. */
const tableShape = z.record(z.string(), z.record(z.string(), z.string()));

const packedShape = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
]);

const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const [{ filename, size, files }] = packedShape.parse(
  JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder, '--ignore-scripts=false'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ),
);
const archive = join(folder, filename);
execFileSync('tar', ['xzf', archive, '-C', folder]);
const paths = files.map(({ path }) => path);
const read = (path: string): string => readFileSync(join(folder, 'package', path), 'utf8');

/** The modules that a file and its chunks import, except Node's own. */
function importsOf(path: string): readonly string[] {
  const { metafile } = buildSync({
    absWorkingDir: join(folder, 'package'),
    entryPoints: [path],
    write: false,
    outdir: folder,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
  });
  const imported = Object.values(metafile.inputs).flatMap((input) => input.imports);
  return [...new Set(imported.flatMap(({ path, external }) => (external === true ? [path] : [])))].filter(
    (name) => !isBuiltin(name),
  );
}

describe('the archive', () => {
  it('has these folders and files', () => {
    const tops = new Set(
      paths.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('dist/') ? 2 : 1)
          .join('/'),
      ),
    );
    expect([...tops].sort()).toEqual([
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist/cli',
      'dist/functions',
      'dist/index.js',
      'dist/licences.txt',
      'dist/types',
      'docs',
      'package.json',
    ]);
  });

  it('has no sources that would have to be compiled', () => {
    expect(paths.filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))).toEqual([]);
  });

  it('has less than 6.4 MB', () => {
    expect(size).toBeLessThan(6_400_000);
  });

  it('has the code of every function, and the console', () => {
    const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
    const table = tableShape.parse(JSON.parse(read('dist/functions/table.json')));
    expect(Object.keys(table).sort()).toEqual(handlers);
    for (const files of Object.values(table)) {
      expect(Object.keys(files)).toContain('index.mjs');
      expect(paths).toEqual(
        expect.arrayContaining(Object.values(files).map((place) => `dist/functions/${place}`)),
      );
    }
    expect(paths).toContain('dist/functions/console/console/index.html');
  });

  it('has the code of the receiver of verify, and no compiler to make it', () => {
    expect(read('dist/functions/receiver.cjs')).toMatch(/svc-message-id/);
    const commands = paths.filter((path) => path.startsWith('dist/cli/'));
    expect(commands.filter((path) => read(path).includes('buildSync'))).toEqual([]);
  });

  it('brings only the store’s package, has no installation script, and may be published', () => {
    const manifest = manifestShape.parse(JSON.parse(read('package.json')));
    expect(manifest.private).toBeUndefined();
    expect(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })).toEqual(['lmdb']);
    expect(Object.values(manifest.peerDependenciesMeta)).toEqual([{ optional: true }, { optional: true }]);
    expect(Object.keys(manifest.scripts).filter((name) => /install|^prepare$/.test(name))).toEqual([]);
  });

  it.each([
    ['dist/index.js', 'the CDK', /^(aws-cdk-lib|constructs)(\/|$)/],
    ['dist/cli/svc-queue.js', 'the CDK and lmdb', /^(aws-cdk-lib|constructs|lmdb)(\/|$)/],
  ])('has %s, which imports %s, and nothing else', (file, _names, allowed) => {
    const imported = importsOf(file);
    expect(imported).toContain('aws-cdk-lib');
    expect(imported.filter((name) => !allowed.test(name))).toEqual([]);
  });

  it('has declarations that import the CDK, each other, and nothing else', () => {
    const declarations = paths.filter((path) => path.endsWith('.d.ts'));
    const imported = declarations.flatMap((path) =>
      [...read(path).matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name = '']) => name),
    );
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.filter((name) => !/^(aws-cdk-lib|constructs)(\/|$)|^\.[^']*\.js$/.test(name))).toEqual(
      [],
    );
  });
});

describe('linters of packages', () => {
  let programs = '';
  beforeAll(async () => {
    const home = await installPackages('linters of packages', join(root, '.cache/package-linters'), linters);
    programs = join(home, 'node_modules/.bin');
  }, limitForInstallsMs);

  const lint = async (program: string, args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(join(programs, program), [...args])).stdout;

  it('publint finds nothing', async () => {
    expect(await lint('publint', ['run', archive, '--strict'])).toContain('All good!');
  });

  it('arethetypeswrong finds nothing for ES modules', async () => {
    expect(await lint('attw', [archive, '--profile', 'esm-only', '--no-color'])).toContain('(ESM)');
  });
});
