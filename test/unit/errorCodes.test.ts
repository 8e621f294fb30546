import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { errorCodes, type ErrorCode, type Reason } from '../../lambdas/error/errorCodes.ts';

const root = resolve(import.meta.dirname, '../..');
const codes = Object.keys(errorCodes) as ErrorCode[];

/** The code that refuses requests, without the table itself and the API description’s examples. */
const refusing = ['lambdas', 'lib', 'local'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith('.ts') && !/\/(errorCodes\.ts$|http\/openapi\/)/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8')),
);

describe('the codes of refusals', () => {
  it.each(codes)('have %s, which is a lower-case word and is used', (code) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(refusing.some((text) => text.includes(`'${code}'`))).toBe(true);
  });

  it('are only used with their own statuses', () => {
    expectTypeOf<readonly [404, 'queue_not_found']>().toExtend<Reason>();
    expectTypeOf<readonly [400, 'queue_not_found']>().not.toExtend<Reason>();
    expectTypeOf<readonly [404, 'another']>().not.toExtend<Reason>();
    expectTypeOf<readonly [404, undefined]>().not.toExtend<Reason>();
  });

  it('each have a heading in docs/errors.md, with the cause and what to do', () => {
    const document = readFileSync(join(root, 'docs/errors.md'), 'utf8');
    const told = document
      .split(/^#+ /m)
      .filter((section) => section.startsWith('`'))
      .map((section) => section.replaceAll(/\s+/g, ' ').trim());
    const expected = codes.map((code) => {
      const { statuses, meaning, advice } = errorCodes[code];
      return `\`${code}\` Status ${statuses.join(', ')}. ${meaning} **Remedy:** ${advice}`;
    });
    expect(told.toSorted()).toEqual(expected.toSorted());
  });
});
