import * as z from 'zod/mini';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { withMetrics } from '../aws/metrics.ts';
import { timers } from '../aws/resources.ts';
import { countAllOutcomes } from '../statistics/countAllOutcomes.ts';

/** The time that is kept to end what has begun. */
const marginMs = minuteMs;

/** The part that a rule asks for. A rule that asks for none asks for all: its event has other fields. */
const asked = z.object({
  part: z._default(z.number(), 0),
  parts: z._default(z.number(), 1),
});

export const handler = withMetrics((event: unknown): Promise<void> =>
  countAllOutcomes(
    now() + timers.countOutcomes.functionTimeoutSeconds * secondMs - marginMs,
    asked.parse(event),
  ),
);
