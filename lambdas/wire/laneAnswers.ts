/** The shapes of answers about lanes: queues, flow-control keys, the account's parallelism; see `answers.ts`. */
import * as z from 'zod/mini';
import { answered } from '../options/described.ts';
import { whole } from '../options/option.ts';
import { circuit, time, type Answer } from './answers.ts';

const oldestAt = z.optional(
  time('When the oldest of them was published; absent in lists, and if there are no messages.'),
);

const fairKeys = z.optional(
  z
    .array(z.object({ fairKey: z.string(), waiting: whole('Messages of it that wait for their turn here.') }))
    .check(
      z.describe(
        'The 20 fair keys with most messages that wait; absent in lists, and if only messages without a fair key and a priority wait.',
      ),
    ),
);

export const queue = z.object({
  name: z.string(),
  createdAt: time('When it was created.'),
  updatedAt: time('When it last changed.'),
  parallelism: whole('Messages that may be in flight at once.'),
  paused: z.boolean().check(z.describe('Whether it is paused.')),
  circuit: answered.circuit,
  lag: whole(
    'Messages that wait in it for their turn, or are being delivered or retried; delayed ones join when they are due.',
  ),
  oldestAt,
  fairKeys,
});
export const queues = z.array(queue);

export const flowControl = z.object({
  flowControlKey: z.string(),
  waitListSize: whole('Deliveries that wait for their turn.'),
  oldestAt,
  fairKeys,
  parallelismMax: whole('Deliveries that may be in flight at once; 0 if it is not limited.'),
  parallelismCount: whole(
    'Slots that are taken: by deliveries in flight, and by those that are about to start.',
  ),
  rateMax: whole('Deliveries that may start in one period; 0 if it is not limited.'),
  rateCount: whole('Deliveries that started within the last period.'),
  ratePeriod: whole('Seconds; 1 if no period is given.'),
  ratePeriodStart: whole(
    'When the first of the deliveries started that `rateCount` counts, in Unix seconds; 0 if it counts no deliveries.',
  ),
  isPaused: z.boolean().check(z.describe('Whether it is paused.')),
  isPinnedParallelism: z
    .boolean()
    .check(z.describe('Whether its parallelism is pinned, so that messages do not change it.')),
  isPinnedRate: z
    .boolean()
    .check(z.describe('Whether its rate and period are pinned, so that messages do not change them.')),
});
export const flowControls = z.array(flowControl);

export const globalParallelism = z.object({
  parallelismMax: whole('The account’s `max_global_parallelism`.'),
  parallelismCount: whole(
    'Slots that are taken: by deliveries in flight, and for up to 70 s by workers for their next ones.',
  ),
});

export const circuits = z.array(circuit);

export type QueueAnswer = Answer<typeof queue>;
export type KeyAnswer = Answer<typeof flowControl>;
export type ParallelismAnswer = Answer<typeof globalParallelism>;
