/** Follows the worked example of CONTRIBUTING.md in a copy of the code. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as optionsModule from '../../../lambdas/request/publishOptions.ts';
import type * as recordsModule from '../../../lambdas/message/records.ts';
import type * as listsModule from '../../../lambdas/options/options.ts';
import * as z from 'zod/mini';
import { newAccount } from '../../../lambdas/account/account.ts';

const root = resolve(import.meta.dirname, '../../..');
const copy = join(root, `.cache/option-${process.pid}`);

const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const [, record = ''] = /```ts\n\/\/ (?:lambdas\/options\/color\.ts)\n(.*?)```/s.exec(guide) ?? [];
const [, lines = ''] = /```diff\n(.*?)```/s.exec(guide) ?? [];

/** Adds each line of the example below the similar line for `circuit`. */
function addLines(): void {
  let path = '';
  for (const line of lines.trimEnd().split('\n')) {
    if (line.startsWith('  ')) {
      path = join(copy, line.trim());
      continue;
    }
    const added = line.slice(2);
    const like = added.replaceAll('color', 'circuit');
    const text = readFileSync(path, 'utf8');
    expect(text.split('\n')).toContain(like);
    writeFileSync(path, text.replace(`\n${like}\n`, `\n${like}\n${added}\n`));
  }
}

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const compile = (): string =>
  spawnSync(process.execPath, [compiler, '-p', copy], { encoding: 'utf8' }).stdout;

beforeAll(() => {
  mkdirSync(copy, { recursive: true });
  cpSync(join(root, 'lambdas'), join(copy, 'lambdas'), { recursive: true });
  cpSync(join(root, 'console/src'), join(copy, 'console/src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  const include = ['lambdas/options', 'lambdas/request/publishOptions.ts', 'lambdas/message/records.ts'];
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include }));
  writeFileSync(join(copy, 'lambdas/options/color.ts'), record);
});
afterAll(() => {
  rmSync(copy, { recursive: true });
});

const account = newAccount({ id: 'one', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
const rules = {
  allowed: { hosts: new Set<string>(), networks: [] },
  own: new Set<string>(),
  arns: { deployment: [], account: [] },
};
const load = async <Module>(path: string): Promise<Module> => (await import(join(copy, path))) as Module;

describe('an option that is added according to the guide', () => {
  it('is required by the compiler wherever it is missing', () => {
    const path = join(copy, 'lambdas/options/options.ts');
    const before = readFileSync(path, 'utf8');
    const like = '  circuit: circuit.stored,';
    const text = before.replace(like, `${like}\n  color: color.stored,`);
    writeFileSync(path, text.replace('\n\n', `\nimport * as color from './color.ts';\n\n`));
    const said = compile();
    expect(said).toMatch(/Property 'color' is missing in type .* required in type .*Partial/);
    expect(said).toMatch(/Property 'color' is missing in type .* required in type .*RunSettings/);
    writeFileSync(path, before);
    addLines();
    expect(compile()).toBe('');
  });

  it('is read, refused, kept and shown', async () => {
    const { parsePublishOptions, parseOverrides } = await load<typeof optionsModule>(
      'lambdas/request/publishOptions.ts',
    );
    const { settingsRecord } = await load<typeof recordsModule>('lambdas/message/records.ts');
    const { stored } = await load<typeof listsModule>('lambdas/options/options.ts');
    const request = (config: Readonly<Record<string, string>>) => ({
      prefix: 'Svc',
      config: new Map(Object.entries(config).map(([name, value]) => [name, [value]])),
      otherHeaders: [],
    });
    const callback = { callback: 'https://example.com/', 'callback-color': 'blue' };
    const options = parsePublishOptions(request({ color: 'red', ...callback }), account, rules, 0);
    expect(options).toMatchObject({ color: 'red', callback: { color: 'blue' } });
    expect(() => parsePublishOptions(request({ color: 'urgent' }), account, rules, 0)).toThrow(
      'Svc-Color is "urgent"; allowed are blue and red.',
    );
    expect(parseOverrides(request({ color: 'blue' }), account, rules, 0)).toEqual({ color: 'blue' });
    expect(z.parse(z.object(stored), options)).toMatchObject({ color: 'red' });
    expect(settingsRecord(options)).toMatchObject({ color: 'red' });
  });
});
