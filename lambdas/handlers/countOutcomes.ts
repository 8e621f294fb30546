import * as z from 'zod/mini';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { withMetrics } from '../aws/metrics.ts';
import { timers } from '../aws/resources.ts';
import { endDeletions } from '../management/endDeletions.ts';
import { countAllOutcomes } from '../statistics/countAllOutcomes.ts';

/** No new work begins in the last minute, so that current work can finish. */
const marginMs = minuteMs;

/** The part that this invocation counts. Without these fields, it counts everything. */
const asked = z.object({
  part: z._default(z.number(), 0),
  parts: z._default(z.number(), 1),
});

export const handler = withMetrics(async (event: unknown): Promise<void> => {
  const until = now() + timers.countOutcomes.functionTimeoutSeconds * secondMs - marginMs;
  const part = asked.parse(event);
  if (part.part === 0) await logAndContinue(endDeletions());
  await countAllOutcomes(until, part);
});
