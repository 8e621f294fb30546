import { describe, expect, it } from 'vitest';
import { BenchError } from '../../../bench/benchError.ts';
import { parseOptions, parts } from '../../../bench/options.ts';

describe('the arguments of the benchmark', () => {
  it.each([
    { args: [], task: { kind: 'costs', parts } },
    { args: ['lanes'], task: { kind: 'costs', parts: ['lanes'] } },
    { args: ['--against', 'bullmq'], task: { kind: 'againstBullmq' } },
    { args: ['--against', 'HEAD~1'], task: { kind: 'againstCommit', commit: 'HEAD~1' } },
    { args: ['--against=f28a2d8'], task: { kind: 'againstCommit', commit: 'f28a2d8' } },
    { args: ['--growth'], task: { kind: 'growth' } },
    { args: ['--help', 'lanes'], task: { kind: 'help' } },
  ])('$args are understood', ({ args, task }) => {
    expect(parseOptions(args)).toEqual(task);
  });

  it.each([
    {
      args: ['lane'],
      sentence: "There is no part 'lane'; there are messages, lanes, workflows, console.",
    },
    { args: ['lanes', 'console'], sentence: "One part or all: 'console' is one too many." },
    { args: ['--againt', 'x'], sentence: "Unknown option '--againt'; --help lists the flags." },
    { args: ['--against'], sentence: "Option '--against <value>' argument missing; --help lists the flags." },
    { args: ['--against='], sentence: '--against takes bullmq, or a commit such as HEAD~1.' },
    {
      args: ['--growth', '--against', 'bullmq'],
      sentence: 'A part, --against and --growth are measured one at a time.',
    },
    {
      args: ['lanes', '--growth'],
      sentence: 'A part, --against and --growth are measured one at a time.',
    },
    {
      args: ['--growth=5'],
      sentence: "Option '--growth' does not take an argument; --help lists the flags.",
    },
  ])('$args are refused in one sentence', ({ args, sentence }) => {
    expect(() => parseOptions(args)).toThrow(new BenchError(sentence));
  });
});
