import * as z from 'zod/mini';
import { text, whole } from '../options/option.ts';
import { cronZone, fireStates, time } from './answers.ts';

export const nextFires = z.object({
  timezone: text('The zone of its cron expression.'),
  isPaused: z.boolean().check(z.describe('While it is paused, it does not publish at these times.')),
  fires: z.array(
    z.object({
      time: time('When it fires.'),
      local: text('The same in its zone: `2026-11-27 09:00`.'),
    }),
  ),
});

export const explainedCron = z.object({
  cron: text('The expression, without spaces around it.'),
  timezone: cronZone,
  description: text('When it fires, in English. The times are those of its zone.'),
  nextFires: z.array(z.number()).check(z.describe('The next five fires, in Unix milliseconds.')),
});

export const scheduleFires = z.object({
  fires: z
    .array(
      z.object({
        time: time('The minute that it fired for.'),
        messages: z.optional(whole('How many messages it made; absent where that was not noted.')),
        states: z.optional(
          fireStates.check(z.describe('By the ids of its messages, of the first 50 of all fires together.')),
        ),
        error: z.optional(text('Why it made no message.')),
      }),
    )
    .check(z.describe('The newest first: at most 10, of the last 16 days.')),
});
