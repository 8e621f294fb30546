/** Checks the order of concepts and the privacy of their rooms according to `lambdas/README.md`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);

/** Returns the modules that a text imports, types included, as it names them. */
const importsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*'([^']+)'/g)].flatMap(([, path]) => path ?? []);

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string, text: string): readonly Import[] {
  return importsIn(text).map((path) => ({
    from: file,
    to: path.startsWith('.') ? normalize(join(dirname(file), path)) : path,
  }));
}

const readImports = (folder: string): readonly Import[] =>
  filesIn(folder).flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));

interface Concept {
  readonly name: string;
  readonly rooms: readonly string[];
}

const concepts: readonly Concept[] = [
  ...readFileSync(join(root, 'lambdas/README.md'), 'utf8').matchAll(/^\| `(\w+)` *\|[^|]*\|([^|]*)\|$/gm),
].map(([, name = '', rooms = '']) => ({
  name,
  rooms: [...rooms.matchAll(/`([^`]+)`/g)].flatMap(([, room]) => room ?? []),
}));
const rank = new Map(concepts.map(({ name }, index) => [name, index]));
const rankOf = (concept: string): number => rank.get(concept) ?? NaN;

/** Returns a file’s concept and room (empty for the concept’s face), or undefined outside of functions. */
function placeOf(file: string): { readonly concept: string; readonly room: string } | undefined {
  const [, concept, inside = ''] = /^lambdas\/(\w+)\/(.*)$/.exec(file) ?? [];
  return concept === undefined ? undefined : { concept, room: dirname(inside).replace(/^\.$/, '') };
}

/** Says why an import is refused, or returns undefined if it is allowed. */
function refusalOf({ from, to }: Import): string | undefined {
  const [user, used] = [placeOf(from), placeOf(to)];
  if (used === undefined || user === undefined) return undefined;
  const { concept } = user;
  if (concept === used.concept) return roomRefusal(concept, user.room, used.room);
  if (!(rankOf(used.concept) < rankOf(concept))) return `${concept} is below ${used.concept}`;
  if (used.room !== '' && used.concept !== 'http') return `${used.room} is a room of ${used.concept}`;
  return undefined;
}

/** Rooms have an order, too. The face may use all rooms, and a room the face’s nouns. */
function roomRefusal(concept: string, user: string, used: string): string | undefined {
  if (user === used || user === '' || used === '') return undefined;
  const rooms = concepts.find(({ name }) => name === concept)?.rooms ?? [];
  return rooms.indexOf(used) < rooms.indexOf(user) ? undefined : `${user} is below ${used} in ${concept}`;
}

const told = (imports: readonly Import[]): readonly string[] =>
  imports.flatMap((one) => {
    const refusal = refusalOf(one);
    return refusal === undefined ? [] : [`${one.from} imports ${one.to}: ${refusal}`];
  });

const imports = readImports('lambdas');

describe('concepts', () => {
  it('import only downwards, and only another concept’s face', () => {
    expect(imports.length).toBeGreaterThan(1_000);
    expect(told(imports)).toEqual([]);
  });

  it('are all in the table, with all their rooms', () => {
    const places = filesIn('lambdas').flatMap((file) => placeOf(file) ?? []);
    const known = new Set(
      concepts.flatMap(({ name, rooms }) => [name, ...rooms.map((room) => `${name}/${room}`)]),
    );
    const found = new Set(places.map(({ concept, room }) => (room === '' ? concept : `${concept}/${room}`)));
    expect([...found].toSorted()).toEqual([...known].toSorted());
  });
});

describe('rules', () => {
  /** Everything that a file reaches by imports of values. Imported types do not exist at run time. */
  const values = new Map<string, string[]>();
  for (const file of filesIn('lambdas')) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/^import type [^;]+;/gm, '');
    values.set(
      file,
      importsOf(file, text).map(({ to }) => to),
    );
  }
  function reachedFrom(file: string, seen = new Set<string>()): ReadonlySet<string> {
    for (const next of values.get(file) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reachedFrom(next, seen);
    }
    return seen;
  }
  const pure = filesIn('lambdas').filter((file) =>
    /^lambdas\/(error|shared|circuit|wire|value|options|request)\/|\/rules\//.test(file),
  );

  it('reach nothing that reads or writes', () => {
    expect(pure.length).toBeGreaterThan(60);
    const impure = pure.flatMap((file) =>
      [...reachedFrom(file)]
        .filter((reached) =>
          /^@aws-sdk|^@smithy|^lambdas\/aws\/(?!resources)|\/store\/|^node:(fs|child_process|worker_threads)/.test(
            reached,
          ),
        )
        .map((reached) => `${file} reaches ${reached}`),
    );
    expect(impure).toEqual([]);
  });
});

const folders = ['lambdas', 'lib', 'local', 'console', 'operate', 'migrate', 'cli', 'bin', 'verify', 'site'];

/** Returns the circles of files that import each other, each as one way around. */
function circlesIn(all: readonly Import[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of all) next.set(from, [...(next.get(from) ?? []), to]);
  const circles: string[][] = [];
  const seen = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) circles.push(path.slice(at));
    if (seen.has(file)) return;
    seen.add(file);
    path.push(file);
    for (const to of next.get(file) ?? []) visit(to);
    path.pop();
  };
  for (const file of next.keys()) visit(file);
  return circles;
}

describe('files', () => {
  const all = [...folders, 'bench', 'pack', 'test'].flatMap(readImports);

  it('import each other in no circle, not even for types', () => {
    expect(all.length).toBeGreaterThan(5_000);
    expect(circlesIn(all)).toEqual([]);
  });

  it('of `bin` are not imported by other folders', () => {
    const upwards = all.filter(({ from, to }) => to.startsWith('bin/') && !/^(bin|test)\//.test(from));
    expect(upwards).toEqual([]);
  });

  it('of `bench` are imported by tests only', () => {
    const upwards = all.filter(({ from, to }) => to.startsWith('bench/') && !/^(bench|test)\//.test(from));
    expect(upwards).toEqual([]);
  });

  it('export only what another file uses', () => {
    const texts = new Map(
      [...folders, 'bench', 'pack', 'test', 'examples']
        .flatMap(filesIn)
        .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
    );
    const users = new Map<string, string[]>();
    for (const { from, to } of [...texts].flatMap(([file, text]) => importsOf(file, text)))
      users.set(to, [...(users.get(to) ?? []), from]);
    // Apps, Lambda and bundles load these, or one concept plugs them into another as a whole.
    const whole =
      /^lib\/(index|lambdaCredentials)|^pack\/madeAhead|^lambdas\/handlers\/|\/for(Publish|Workers)\.ts$/;
    const unused = [...texts].flatMap(([file, text]) =>
      whole.test(file) || /^(test|examples)\//.test(file)
        ? []
        : [
            ...text.matchAll(
              /^export (?:abstract |async )?(?:const|function\*?|interface|type|class) (\w+)/gm,
            ),
          ]
            .map(([, name = '']) => name)
            .filter((name) => {
              const used = new RegExp(`\\b${name}\\b`);
              return !(users.get(file) ?? []).some((user) => used.test(texts.get(user) ?? ''));
            })
            .map((name) => `${file}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('that commands share import nothing else of the project', () => {
    expect(
      readImports('cli').filter(({ to }) => folders.some((folder) => to.startsWith(`${folder}/`))),
    ).toEqual([]);
  });
});

describe('text files', () => {
  /** The lines of a merge conflict, even if a Markdown formatter has indented them. */
  const marker = /^\s*(?:<{7}(?: |$)|>{7}(?: |$)|(?:> ){6}>|\|{7}(?: |$)|={7}$)/m;

  it('have no markers of a merge conflict', () => {
    const names = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
    const isThere = (name: string): boolean => name !== '' && existsSync(join(root, name));
    const texts = names.filter(isThere).flatMap((name) => {
      const bytes = readFileSync(join(root, name));
      return bytes.includes(0) ? [] : [{ name, text: bytes.toString() }];
    });
    expect(texts.length).toBeGreaterThan(1_000);
    expect(texts.filter(({ text }) => marker.test(text)).map(({ name }) => name)).toEqual([]);
  });
});

describe('sizes', () => {
  const files = folders.flatMap(filesIn);
  /** Folders with a file for each function, option or answer, and files that combine these. */
  const lists = ['lambdas/handlers', 'lambdas/options', 'lambdas/wire'];

  it('no file has more than 350 lines', () => {
    const lines = (file: string): number => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    expect(files.filter((file) => lines(file) > 350)).toEqual([]);
  });

  it('no folder has more than 16 files, except those that list functions, options or answers', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    const large = [...counts].filter(([folder, count]) => count > 16 && !lists.includes(folder));
    expect(large).toEqual([]);
  });

  it('at most 16 files import from more than 15 others, except handlers and the files that list options', () => {
    const hubs = filesIn('lambdas').filter(
      (file) =>
        !lists.includes(dirname(file)) &&
        new Set(importsIn(readFileSync(join(root, file), 'utf8'))).size > 15,
    );
    expect(hubs.length).toBeLessThanOrEqual(16);
  });
});

describe('other folders import from the functions', () => {
  const others: readonly (readonly [string, RegExp])[] = [
    [
      'lib',
      /^lambdas\/(http\/|error\/|destination\/arns|value\/(limits|pem|statusList|tlsIdentities)|aws\/(resources|metricTable|settings))/,
    ],
    [
      'local',
      /^lambdas\/((handlers|http|aws|error|shared|account|recovery|value)\/|destination\/rulesOfDeployment)/,
    ],
    ['migrate', /^lambdas\/(error\/|shared\/|schedule\/cron)/],
    ['console/src', /^lambdas\/(error|shared|value|options|wire)\//],
  ];

  it.each(others)('%s: only its part', (folder, allowed) => {
    const taken = readImports(folder).filter(({ to }) => to.startsWith('lambdas/') && !allowed.test(to));
    expect(taken).toEqual([]);
  });
});
