import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Ending } from '../../cli/commandLine.ts';
import { parseOptions } from '../mutation/options.ts';
import { percentOf, scoreTable, survivorLines, totalOf, type Report } from '../mutation/report.ts';

describe('the arguments of a mutation run', () => {
  let root = '';
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-mutation-'));
    for (const folder of [
      'lambdas/lane/rules/deep',
      'local/sqs',
      'lib',
      'test/unit/lane/rules',
      'test/unit/local',
    ]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    writeFileSync(join(root, 'lambdas/lane/rules/rate.ts'), '');
    writeFileSync(join(root, 'lib/app.ts'), '');
    writeFileSync(join(root, 'test/unit/lane/rules/rate.test.ts'), '');
  });
  afterAll(() => {
    rmSync(root, { recursive: true });
  });
  const parse = (...args: readonly string[]) => parseOptions(args, root);

  it.each([
    ['lambdas/lane/rules/rate.ts', 'lambdas/lane/rules/rate.ts', 'test/unit/lane/rules'],
    ['lambdas/lane/rules/', 'lambdas/lane/rules/**/*.{ts,tsx}', 'test/unit/lane/rules'],
    ['lambdas/lane/rules/deep', 'lambdas/lane/rules/deep/**/*.{ts,tsx}', 'test/unit/lane/rules'],
    ['lambdas/lane/rules/r*.ts', 'lambdas/lane/rules/r*.ts', 'test/unit/lane/rules'],
    ['local/sqs', 'local/sqs/**/*.{ts,tsx}', 'test/unit/local'],
  ])('%s changes %s, and runs the tests of %s', (path, mutate, tests) => {
    expect(parse(path)).toEqual({
      mutate: [mutate],
      tests: [`${tests}/**/*.test.ts`],
      floor: 92,
      concurrency: 1,
    });
  });

  it('may name other tests, another floor, and more processes', () => {
    const path = 'lambdas/lane/rules';
    const test = 'test/unit/lane/rules/rate.test.ts';
    expect(parse(path, '--tests', test, '--tests', 'test/unit/local')?.tests).toEqual([
      test,
      'test/unit/local/**/*.test.ts',
    ]);
    expect(parse(path, '--floor', '70.5', '--concurrency', '2')).toMatchObject({
      floor: 70.5,
      concurrency: 2,
    });
    expect(() => parse('--help')).toThrow(expect.objectContaining({ exitStatus: 0 }));
  });

  it.each([
    [[], "Missing required argument 'files'"],
    [['lambdas/none'], "There is no 'lambdas/none'."],
    [['lambdas/lane/rules', '--tests', 'test/none'], "There is no 'test/none'."],
    [['lib/app.ts'], "No folder of test/unit has tests of 'lib/app.ts': name them with --tests."],
    [
      ['lib/app.ts', '--floor', '101'],
      "'--floor <percent>' argument '101' is invalid. Allowed is a number from 0 to 100;",
    ],
    [['lib/app.ts', '--floor', 'all'], "'--floor <percent>' argument 'all' is invalid."],
    [
      ['lib/app.ts', '--concurrency', '0'],
      "'--concurrency <number>' argument '0' is invalid. Allowed is a whole number from 1 to 99;",
    ],
    [['lib/app.ts', '--all'], "Unknown option '--all'"],
  ])('%j is refused: %s', (args, sentence) => {
    expect(() => parse(...args)).toThrow(sentence);
    expect(() => parse(...args)).toThrow(Ending);
  });
});

describe('the report of a mutation run', () => {
  const source = 'const a = 1;\nif (a >\n  b) a();\n';
  const mutant = (status: Report['files'][string]['mutants'][number]['status'], replacement = 'true') => ({
    ...{ status, replacement, mutatorName: 'EqualityOperator' },
    location: { start: { line: 2, column: 5 }, end: { line: 3, column: 4 } },
  });
  const report: Report = {
    files: {
      'bad.ts': { source, mutants: [mutant('Survived', 'a >=\n b'), mutant('NoCoverage'), mutant('Killed')] },
      'good.ts': {
        source,
        mutants: [mutant('Killed'), mutant('Timeout'), mutant('Ignored'), mutant('RuntimeError')],
      },
      'empty.ts': { source, mutants: [] },
    },
  };

  it('counts a mutant without a test as undetected', () => {
    expect(totalOf(report)).toEqual({ killed: 3, survived: 1, uncovered: 1 });
    expect(percentOf(totalOf(report))).toBe(60);
    expect(percentOf(totalOf({ files: {} }))).toBeUndefined();
  });

  it('is a table by file, with the weakest above the total', () => {
    expect(scoreTable(report).split('\n').slice(2)).toEqual([
      'good.ts        2         0            0  100.0',
      'empty.ts       0         0            0      -',
      'bad.ts         1         1            1   33.3',
      'all            3         1            1   60.0',
    ]);
  });

  it('shows each undetected mutant with its place and change', () => {
    expect(survivorLines(report)).toEqual([
      'bad.ts:2:5 EqualityOperator\n  - a > b\n  + a >= b',
      'bad.ts:2:5 EqualityOperator, no test runs it\n  - a > b\n  + true',
    ]);
  });
});
