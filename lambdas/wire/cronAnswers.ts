import * as z from 'zod/mini';
import { text } from '../options/option.ts';
import { cronZone, time } from './answers.ts';

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
