/** The arguments of `npm run bench`. */
import { Argument, Option } from '@commander-js/extra-typings';
import { command, Ending, oneMore, parse, textLike } from '../bin/commandLine.ts';
import { isRivalName, rivalNames, type RivalName } from './against/rival.ts';

/** Messages without lanes, lanes, runs of workflows, the console, or a deployment that nobody uses. */
export const parts = ['messages', 'lanes', 'workflows', 'console', 'idle'] as const;
export type Part = (typeof parts)[number];

export type Task =
  | { readonly kind: 'costs'; readonly parts: readonly Part[] }
  | { readonly kind: 'againstRivals'; readonly rivals: readonly RivalName[] }
  | { readonly kind: 'againstCommit'; readonly commit: string }
  | { readonly kind: 'growth' | 'machine' };

const about = `Prints each figure with its goal. Exit status: 0 all counted goals are met; 1 one of them is missed, or an error; 2 wrong
arguments. Goals of time are printed and left to the reader, since times depend on the machine.`;

/** @throws Ending */
export function parseOptions(args: readonly string[]): Task {
  const given = parse(
    command('bench', about)
      .addArgument(
        new Argument(
          '[part]',
          'what this costs, and nothing else; without a part or a flag all of them',
        ).choices(parts),
      )
      .addOption(
        new Option(
          '--against <others>',
          'bullmq, outpost, or both (bullmq,outpost, or the flag twice): the local stage in turns with BullMQ and Redis, and with ' +
            'Outpost, PostgreSQL, RabbitMQ and Redis, deliveries a second, latency, backlog, CPU; or a commit such as HEAD~1: the CPU ' +
            'of publish and deliver in turns with that of the commit',
        )
          .argParser(oneMore(textLike(/\S/, `${rivalNames.join(', ')}, or a commit such as HEAD~1`)))
          .conflicts(['growth', 'machine']),
      )
      .option(
        '--growth',
        'calls of AWS and CPU for a message with 100, 10,000 and 100,000 others that wait for their delivery, in the dead ' +
          'letter queue, and in a queue’s line',
      )
      .addOption(
        new Option(
          '--machine',
          'how soon a stage on one machine is ready again with 100,000 messages that wait, and what it keeps from day to day',
        ).conflicts('growth'),
      ),
    args,
  );
  const [part] = given.processedArgs;
  const { against, growth, machine } = given.opts();
  if (part !== undefined && (against !== undefined || growth === true || machine === true))
    throw new Ending('A part, --against, --growth and --machine are measured one at a time.', 2);
  if (machine === true) return { kind: 'machine' };
  if (growth === true) return { kind: 'growth' };
  if (against === undefined) return { kind: 'costs', parts: part === undefined ? parts : [part] };
  return taskAgainst([...new Set(against.flatMap((names) => names.split(',')))]);
}

/** @throws Ending */
function taskAgainst(names: readonly string[]): Task {
  const rivals = names.filter(isRivalName);
  if (rivals.length === names.length) return { kind: 'againstRivals', rivals };
  const [commit = '', ...others] = names;
  if (others.length > 0)
    throw new Ending(`--against takes one commit, or several of ${rivalNames.join(', ')}.`, 2);
  return { kind: 'againstCommit', commit };
}
