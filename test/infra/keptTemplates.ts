/**
 * Templates, bundles and findings of earlier runs. They take a minute, and most changes leave what they are made from as it was.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { bundle } from '../../lib/bundle.ts';

export interface MadeStack {
  readonly name: string;
  readonly region: string;
  readonly isProtected: boolean;
  readonly template: Template;
}

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, '.cache/templates');

/** The sources of a template, besides the settings. */
const sources = [
  'lib',
  'lambdas',
  'console',
  'bin',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'test/infra/app.ts',
  'test/infra/inlineCode.ts',
  'test/support/certificates',
];

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    const files = source.includes('.')
      ? ['']
      : readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.\w+$/.test(name))
          .sort();
    for (const file of files)
      hash.update(`${source}/${file}\0`).update(readFileSync(join(root, source, file)));
  }
  return hash.digest('hex');
}

const shape = z.array(
  z.object({
    name: z.string(),
    region: z.string(),
    isProtected: z.boolean(),
    template: z.record(z.string(), z.unknown()),
  }),
);

let folder: string | undefined;
/** The folder of the present code. Those of other states of the code are deleted. */
function folderOfCode(): string {
  if (folder !== undefined) return folder;
  const name = hashOfSources();
  folder = join(cache, name);
  mkdirSync(folder, { recursive: true });
  for (const other of readdirSync(cache))
    if (other !== name) rmSync(join(cache, other), { recursive: true, force: true });
  return folder;
}

/**
 * @param key what a text is made from, besides the code
 * @returns the text of this or an earlier run
 */
export function keptText(key: string): string | undefined {
  try {
    return readFileSync(fileOf(key), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

export function keepText(key: string, text: string): void {
  const file = fileOf(key);
  // Another process reads it whole or not at all.
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}

const fileOf = (key: string): string =>
  join(folderOfCode(), `${createHash('sha256').update(key).digest('hex')}.json`);

/** @returns the folder of a handler's bundle, which this or an earlier run has made */
export function keptBundle(handler: string): string {
  const key = `bundle of ${handler}`;
  const kept = keptText(key);
  if (kept !== undefined && existsSync(kept)) return kept;
  const made = bundle(handler);
  keepText(key, made);
  return made;
}

/** @param make synthesizes the templates of these settings if no run has done so */
export function keptTemplates(key: string, make: () => readonly MadeStack[]): readonly MadeStack[] {
  const kept = keptText(key);
  if (kept !== undefined) {
    return shape
      .parse(JSON.parse(kept))
      .map((stack) => ({ ...stack, template: Template.fromJSON(stack.template) }));
  }
  const made = make();
  keepText(key, JSON.stringify(made.map((stack) => ({ ...stack, template: stack.template.toJSON() }))));
  return made;
}
