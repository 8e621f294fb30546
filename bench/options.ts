import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { command, Ending, parse, wholeNumber } from '../cli/commandLine.ts';
import { type LongDelivery, longestTimeoutSeconds } from '../lambdas/aws/resources.ts';
import { isRivalName, type RivalName, rivals } from './against/rivals.ts';
import type { Month } from './bill/month.ts';
import { pricedRegions } from '../verify/prices/prices.ts';

/** The whole bill, messages without lanes, lanes, workflow runs, or an idle deployment. */
export const parts = ['cost', 'messages', 'lanes', 'workflows', 'idle'] as const;
export type Part = (typeof parts)[number];

export type Task =
  | { readonly kind: 'costs'; readonly parts: readonly Part[] }
  | { readonly kind: 'month'; readonly month: Month }
  | { readonly kind: 'againstRivals'; readonly rivals: readonly RivalName[] }
  | { readonly kind: 'growth' | 'machine' };

const about = `Prints each figure with its goal. Exit status: 0 all counted goals are met; 1 one of them is missed, or an error; 2 wrong
arguments. Goals of time are printed and left to the reader, since times depend on the machine.`;

/** The longest wait for an answer, and the largest message, in the flags' units. */
const { functions: longestSeconds, instances: longestOnInstances } = longestTimeoutSeconds;
const longDeliveries = ['functions', 'instances'] as const satisfies readonly LongDelivery[];
const largestKb = 4_096;

/** Parses an answer time, such as `250ms` or `2s`, to milliseconds. */
function answerTime(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? [];
  const ms = Number(amount) * ({ ms: 1, s: 1_000, m: 60_000 }[unit] ?? 0);
  if (ms >= 1 && ms <= longestOnInstances * 1_000) return ms;
  throw new InvalidArgumentError(
    `Allowed is a time from 1ms to ${longestSeconds}s, or ${longestOnInstances}s on instances, with its unit, such as 250ms, 2s or 1m.`,
  );
}

function addRivals(text: string, all: readonly RivalName[] = []): readonly RivalName[] {
  const names = text.split(',');
  if (names.every(isRivalName)) return [...new Set([...all, ...names])];
  throw new InvalidArgumentError(
    `Allowed are ${Object.keys(rivals).join(', ')}, or several of them with commas.`,
  );
}

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
            'Outpost, PostgreSQL, RabbitMQ and Redis, deliveries a second, latency, backlog, CPU',
        )
          .argParser(addRivals)
          .conflicts(['growth', 'machine']),
      )
      .option(
        '--growth',
        'calls of AWS for a message with 100, 10,000 and 100,000 others that wait for their delivery, in the dead letter ' +
          'queue, and in a queue’s line, and for a branch of a run',
      )
      .addOption(
        new Option(
          '--machine',
          'how soon a stage on one machine is ready again with 100,000 messages that wait, and what it keeps from day to day',
        ).conflicts('growth'),
      )
      .option(
        '--messages <number>',
        'cost: prints the bill of a month with so many messages',
        wholeNumber(1, 999_999_999),
      )
      .option(
        '--answer <time>',
        'cost: the time of an answer, such as 250ms or 2s; 100ms when absent',
        answerTime,
      )
      .addOption(
        new Option('--region <region>', `cost: whose prices; ${pricedRegions[0]} when absent`).choices(
          pricedRegions,
        ),
      )
      .option('--kb <number>', 'cost: kilobytes of a message; 1 when absent', wholeNumber(1, largestKb))
      .addOption(
        new Option(
          '--by <way>',
          'cost: the way of publishing, the publish URL or the gateway; url when absent',
        ).choices(['api', 'url']),
      )
      .option(
        '--batch <number>',
        'cost: messages that one invocation delivers; derived from the rate when absent',
        wholeNumber(1, 10),
      )
      .addOption(
        new Option(
          '--long-delivery <where>',
          'cost: where messages with a timeout of more than 30 s are delivered, as the setting longDelivery; instances takes all messages for such; functions when absent',
        ).choices(longDeliveries),
      ),
    args,
  );
  const [part] = given.processedArgs;
  const { against, growth, machine, ...ofMonth } = given.opts();
  const [firstOfMonth] = Object.keys(ofMonth);
  if (firstOfMonth !== undefined && part !== 'cost')
    throw new Ending(
      `--${firstOfMonth === 'longDelivery' ? 'long-delivery' : firstOfMonth} is a flag of the part cost: npm run bench cost -- --messages 5000000`,
      2,
    );
  if (part !== undefined && (against !== undefined || growth === true || machine === true))
    throw new Ending('A part, --against, --growth and --machine are measured one at a time.', 2);
  if (firstOfMonth !== undefined) return { kind: 'month', month: monthOf(ofMonth) };
  if (machine === true) return { kind: 'machine' };
  if (growth === true) return { kind: 'growth' };
  if (against !== undefined) return { kind: 'againstRivals', rivals: against };
  return { kind: 'costs', parts: part === undefined ? parts : [part] };
}

function monthOf({
  messages,
  answer = 100,
  region = pricedRegions[0],
  kb = 1,
  by = 'url',
  batch,
  longDelivery = 'functions',
}: {
  readonly [K in keyof Omit<Month, 'answerMs'>]?: Month[K] | undefined;
} & { readonly answer?: number | undefined }): Month {
  if (messages === undefined)
    throw new Ending('A month needs its number of messages: npm run bench cost -- --messages 5000000', 2);
  const longest = longestTimeoutSeconds[longDelivery];
  if (answer > longest * 1_000)
    throw new Ending(
      `A function waits ${longest}s for an answer; --long-delivery instances waits ${longestOnInstances}s.`,
      2,
    );
  if (longDelivery === 'instances' && batch !== undefined)
    throw new Ending('--batch is for functions: on instances each message is delivered alone.', 2);
  return { messages, answerMs: answer, region, kb, by, batch, longDelivery };
}
