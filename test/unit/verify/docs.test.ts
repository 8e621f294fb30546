/** `docs/deploy.md`, "What only AWS can show", names the checks that show it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { afterChecks } from '../../../verify/after/checks.ts';
import { beforeChecks } from '../../../verify/before/checks.ts';

const text = readFileSync(resolve(import.meta.dirname, '../../../docs/deploy.md'), 'utf8');
const [, section = ''] = /^## What only AWS can show$(.*?)(?=^## |$(?![^]))/ms.exec(text) ?? [];
const rows = [...section.matchAll(/^\| (?!what |-)(.*) \| (.*) \|$/gm)].map(
  ([, what = '', shownBy = '']) => ({
    what,
    checks: [...shownBy.matchAll(/`([a-z-]+)`/g)].flatMap(([, name]) => name ?? []),
  }),
);

const all = [...beforeChecks, ...afterChecks].map(({ name }) => name);

it('No row is without a check', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(({ checks }) => checks.length === 0)).toEqual([]);
});

it('No row names a check that does not exist', () => {
  expect(rows.flatMap(({ checks }) => checks).filter((name) => !all.includes(name))).toEqual([]);
});

it('What no emulator can show has a row', () => {
  const named = new Set(rows.flatMap(({ checks }) => checks));
  const onlyOnAws = afterChecks.filter(({ notOnEmulator }) => notOnEmulator !== undefined);
  expect(onlyOnAws.length).toBeGreaterThan(2);
  expect(onlyOnAws.filter(({ name }) => !named.has(name))).toEqual([]);
});

it('No two checks have one name, and each says what it shows and what to do', () => {
  expect(new Set(all).size).toBe(all.length);
  for (const { shows, remedy } of [...beforeChecks, ...afterChecks]) {
    expect(shows).toMatch(/^[a-z].*[^.]$|^(AWS|API|Lambda|CloudWatch|CloudFormation)/);
    expect(remedy).toMatch(/^.*[.?]$/);
  }
});
