/** The packages that the project depends on: their rows in `docs/dependencies.md`, and their licences. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { consoleBuild } from '../../console/build.ts';
import { handlersDirectory, lambdaBuild } from '../../lib/bundle.ts';
import { commandBuild, constructBuild } from '../../pack/bundles.ts';
import { root } from './app.ts';

/** Licences that allow the service to be run, changed and passed on under any terms. */
const allowed = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
];
/** Licences for packages that are neither deployed nor passed on. */
const allowedForDevelopment = [...allowed, 'MPL-2.0', 'Unlicense', 'CC0-1.0'];

const read = <T>(file: string, shape: z.ZodType<T>): T =>
  shape.parse(JSON.parse(readFileSync(join(root, file), 'utf8')));

const versions = z.record(z.string(), z.string());
const optional = z.object({ optionalDependencies: versions });
const own = read('package.json', optional.extend({ devDependencies: versions }));
const compared = read('test/differential/package.json', optional);
const site = read('site/package.json', z.object({ devDependencies: versions }));
const named = Object.keys({
  ...own.devDependencies,
  ...site.devDependencies,
  ...own.optionalDependencies,
  ...compared.optionalDependencies,
});

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      license: z.string().optional(),
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      optional: z.boolean().default(false),
    }),
  ),
});
const { packages } = read('package-lock.json', lock);
const { packages: packagesOfSite } = read('site/package-lock.json', lock);
const locked = Object.entries(packages)
  .filter(
    ([folder]) => folder.startsWith('node_modules/') && folder !== 'node_modules/svc-queue-differential',
  )
  .map(([folder, { license, dev, devOptional, optional }]) => ({
    folder,
    license,
    isOptional: optional || devOptional,
    isForDevelopment: dev || devOptional,
  }));

/** A package's declared licence; undefined if it is not installed, because it is for another system. */
function licenceIn(folder: string): string | undefined {
  const file = `${folder}/package.json`;
  return existsSync(join(root, file)) ? read(file, z.object({ license: z.string() })).license : undefined;
}

/** Whether a licence, or one that a package offers, is in a list. */
const isOneOf = (licence: string, list: readonly string[]): boolean =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => list.includes(choice));

/** The folders of the packages that a build bundles. */
async function bundledBy(options: BuildOptions): Promise<ReadonlySet<string>> {
  const { metafile } = await build({ ...options, write: false, metafile: true });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  );
  return new Set(inputs.flatMap(([path]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
}

const bundled = {
  lambda: await bundledBy({
    ...lambdaBuild,
    entryPoints: readdirSync(handlersDirectory).map((name) => join(handlersDirectory, name)),
  }),
  console: await bundledBy(consoleBuild),
};

/** The packages that apps get with the package, and users with the command. */
const published = await Promise.all([constructBuild, commandBuild].map(bundledBy));

/** The table's rows, one for each package: package, licence, where it is bundled, why. */
const rows = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .flatMap(([, names = '', licence = '', where = '', why = '']) =>
    names
      .replaceAll('`', '')
      .split(', ')
      .map((name) => ({ name, licence, where, why })),
  );

describe('the list of dependencies', () => {
  it('has exactly the packages of package.json, each once', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual([...named].sort());
  });

  it.each(rows)('has the licence of $name, where it is bundled, and why it is used', (row) => {
    const folder = `node_modules/${row.name}`;
    const locked = packages[folder] ?? packagesOfSite[folder];
    expect(row.licence).toBe(licenceIn(folder) ?? locked?.license);
    const where = Object.entries(bundled).flatMap(([place, folders]) => (folders.has(folder) ? [place] : []));
    expect(row.where).toBe(where.join(', '));
    expect(row.why).not.toBe('');
  });

  it('names the allowed licences', () => {
    const text = readFileSync(join(root, 'docs/dependencies.md'), 'utf8').replaceAll('\n', ' ');
    expect(text).toContain(`these licences: ${allowed.join(', ')}.`);
  });
});

describe('the licences', () => {
  it('of all packages are known from the installation, or from the lock file for other systems', () => {
    const unknown = locked.filter(
      ({ folder, license, isOptional }) =>
        (licenceIn(folder) ?? (isOptional ? license : undefined)) === undefined,
    );
    expect(unknown.map(({ folder }) => folder)).toEqual([]);
  });

  it('of what is bundled, and of what is installed beside it, allow the service to be passed on', () => {
    const everything = new Set([
      ...locked.filter(({ isForDevelopment }) => !isForDevelopment).map(({ folder }) => folder),
      ...bundled.lambda,
      ...bundled.console,
      ...published.flatMap((folders) => [...folders]),
    ]);
    expect(everything.size).toBeGreaterThan(50);
    const refused = [...everything]
      .map((folder) => ({ folder, licence: licenceIn(folder) ?? packages[folder]?.license ?? 'none' }))
      .filter(({ licence }) => !isOneOf(licence, allowed));
    expect(refused).toEqual([]);
  });

  it('of development tools require nothing as long as the tools are not changed', () => {
    const refused = locked
      .map(({ folder, license }) => ({ folder, licence: licenceIn(folder) ?? license ?? 'none' }))
      .filter(({ licence }) => !isOneOf(licence, allowedForDevelopment));
    expect(refused).toEqual([]);
    const ofSite = Object.entries(packagesOfSite).filter(
      ([folder, { license = 'none' }]) => folder !== '' && !isOneOf(license, allowedForDevelopment),
    );
    expect(ofSite.map(([folder]) => folder)).toEqual([]);
  });
});
