/** The arguments of `npm run bench`. */
import { parseArgs } from 'node:util';
import { BenchError } from './benchError.ts';

/** Messages without lanes, lanes, runs of workflows, or the console. */
export const parts = ['messages', 'lanes', 'workflows', 'console'] as const;
export type Part = (typeof parts)[number];

export type Task =
  | { readonly kind: 'costs'; readonly parts: readonly Part[] }
  | { readonly kind: 'againstBullmq' }
  | { readonly kind: 'againstCommit'; readonly commit: string }
  | { readonly kind: 'growth' }
  | { readonly kind: 'help' };

export const usage = `Usage: npm run bench -- [part | flag]

Prints each figure with its goal. Exit status: 0 all counted goals are met; 1 one of them is missed, or an error; 2 wrong
arguments. Goals of time are printed and left to the reader, since times depend on the machine.

  messages | lanes | workflows | console
                        what these cost, and nothing else; without a part all four
  --against bullmq      the local stage and BullMQ with Redis in turns: deliveries a second, latency, backlog, CPU
  --against <commit>    the CPU of publish and deliver in turns with that of another commit, such as HEAD~1
  --growth              calls of AWS and CPU for a message with 100, 10,000 and 100,000 others that wait for their delivery,
                        in the dead letter queue, and in a queue's line
  --help                this text
`;

const isPart = (text: string): text is Part => parts.some((part) => part === text);

/** @throws BenchError that names the wrong argument and what is allowed */
export function parseOptions(args: readonly string[]): Task {
  const { values, positionals } = parse(args);
  if (values.help === true) return { kind: 'help' };
  const [part, more] = positionals;
  if (part !== undefined && !isPart(part)) {
    throw new BenchError(`There is no part '${part}'; there are ${parts.join(', ')}.`);
  }
  if (more !== undefined) throw new BenchError(`One part or all: '${more}' is one too many.`);
  const { against, growth } = values;
  if ([part, against, growth].filter((given) => given !== undefined).length > 1) {
    throw new BenchError('A part, --against and --growth are measured one at a time.');
  }
  if (growth === true) return { kind: 'growth' };
  if (against === undefined) return { kind: 'costs', parts: part === undefined ? parts : [part] };
  if (against.trim() === '') throw new BenchError('--against takes bullmq, or a commit such as HEAD~1.');
  return against === 'bullmq' ? { kind: 'againstBullmq' } : { kind: 'againstCommit', commit: against };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        against: { type: 'string' },
        growth: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's advice on positional arguments and dashes does not apply here.
    const [sentence = ''] = error.message.split(/\.?\s(?:To specify|Did you)|\n/);
    throw new BenchError(`${sentence.replace(/\.$/, '')}; --help lists the flags.`, { cause: error });
  }
}
