/** The archive that `npm pack` makes: all that runs and deploys the service, and nothing else. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { root } from './app.ts';

const packed = z
  .array(z.object({ files: z.array(z.object({ path: z.string() })) }))
  .parse(
    JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json'], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ),
  )
  .flatMap(({ files }) => files.map(({ path }) => path));

describe('npm pack', () => {
  it('takes these folders and files', () => {
    const tops = new Set(packed.map((path) => path.split('/')[0]));
    expect([...tops].sort()).toEqual([
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'cdk.json',
      'console',
      'docs',
      'lambdas',
      'lib',
      'local',
      'migrate',
      'operate',
      'package.json',
      'tsconfig.json',
      'verify',
    ]);
  });

  it('takes sources and documents, and nothing that was built, hidden or left behind', () => {
    const known = new Set(['.css', '.html', '.json', '.md', '.png', '.sh', '.svg', '.ts', '.tsx']);
    const strange = packed.filter(
      (path) => path !== 'LICENSE' && (!known.has(extname(path)) || /(^|\/)\./.test(path)),
    );
    expect(strange).toEqual([]);
  });

  it('takes all that the commands import', () => {
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: readdirSync(join(root, 'bin')).map((name) => `bin/${name}`),
      outdir: root,
      write: false,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      metafile: true,
    });
    const missing = Object.keys(metafile.inputs).filter((path) => !packed.includes(path));
    expect(Object.keys(metafile.inputs).length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });
});
