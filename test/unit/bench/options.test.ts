import { expect, it } from 'vitest';
import { parseOptions } from '../../../bench/options.ts';
import { Ending } from '../../../cli/commandLine.ts';

it.each([
  { args: ['--against', 'bullmq'], rivals: ['bullmq'] },
  { args: ['--against', 'outpost'], rivals: ['outpost'] },
  { args: ['--against', 'bullmq,outpost'], rivals: ['bullmq', 'outpost'] },
  { args: ['--against', 'outpost', '--against', 'bullmq'], rivals: ['outpost', 'bullmq'] },
  { args: ['--against', 'bullmq,outpost', '--against', 'bullmq'], rivals: ['bullmq', 'outpost'] },
])('measures all rivals of $args once, in one run', ({ args, rivals }) => {
  expect(parseOptions(args)).toEqual({ kind: 'againstRivals', rivals });
});

it('takes any other name as a commit', () => {
  expect(parseOptions(['--against', 'HEAD~1'])).toEqual({ kind: 'againstCommit', commit: 'HEAD~1' });
});

it.each([
  [['--against', 'HEAD~1,bullmq']],
  [['--against', 'bullmq', '--against', 'HEAD~1']],
  [['--against', 'HEAD~1', '--against', 'HEAD~2']],
])('refuses %j, because a commit is compared separately', (args) => {
  expect(() => parseOptions(args)).toThrow(Ending);
});

it('refuses a rival together with a part', () => {
  expect(() => parseOptions(['lanes', '--against', 'outpost'])).toThrow(Ending);
});
