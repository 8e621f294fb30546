import { describe, expect, it } from 'vitest';
import { Ending } from '../../../bin/commandLine.ts';
import { parseOptions, parts } from '../../../bench/options.ts';

describe('the arguments of the benchmark', () => {
  it.each([
    { args: [], task: { kind: 'costs', parts } },
    { args: ['lanes'], task: { kind: 'costs', parts: ['lanes'] } },
    { args: ['--against', 'bullmq'], task: { kind: 'againstBullmq' } },
    { args: ['--against', 'HEAD~1'], task: { kind: 'againstCommit', commit: 'HEAD~1' } },
    { args: ['--against=f28a2d8'], task: { kind: 'againstCommit', commit: 'f28a2d8' } },
    { args: ['--growth'], task: { kind: 'growth' } },
  ])('$args are understood', ({ args, task }) => {
    expect(parseOptions(args)).toEqual(task);
  });

  it.each([
    {
      args: ['lane'],
      sentence:
        "Command-argument value 'lane' is invalid for argument 'part'. Allowed choices are messages, lanes, workflows, console; --help lists the flags.",
    },
    {
      args: ['lanes', 'console'],
      sentence: 'Too many arguments. Expected 1 argument but got 2; --help lists the flags.',
    },
    { args: ['--againt', 'x'], sentence: "Unknown option '--againt'; --help lists the flags." },
    { args: ['--against'], sentence: "Option '--against <other>' argument missing; --help lists the flags." },
    {
      args: ['--against='],
      sentence:
        "Option '--against <other>' argument '' is invalid. Allowed is bullmq, or a commit such as HEAD~1; --help lists the flags.",
    },
    {
      args: ['--growth', '--against', 'bullmq'],
      sentence: "Option '--against <other>' cannot be used with option '--growth'; --help lists the flags.",
    },
    {
      args: ['lanes', '--growth'],
      sentence: 'A part, --against and --growth are measured one at a time.',
    },
    {
      args: ['--growth=5'],
      sentence: "Unknown option '--growth=5'; --help lists the flags.",
    },
  ])('$args are refused in one sentence', ({ args, sentence }) => {
    expect(() => parseOptions(args)).toThrow(new Ending(sentence, 2));
  });
});
