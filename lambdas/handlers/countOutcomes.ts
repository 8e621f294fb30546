import { minuteMs, now, secondMs } from '../domain/clock.ts';
import { withMetrics } from '../metrics.ts';
import { timers } from '../resources.ts';
import { countAllOutcomes } from '../services/usage/countAllOutcomes.ts';

/** The time that is left to end what has begun. */
const marginMs = minuteMs;

export const handler = withMetrics((): Promise<void> =>
  countAllOutcomes(now() + timers.countOutcomes.functionTimeoutSeconds * secondMs - marginMs),
);
