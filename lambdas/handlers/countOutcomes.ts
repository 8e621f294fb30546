import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { withMetrics } from '../aws/metrics.ts';
import { timers } from '../aws/resources.ts';
import { countAllOutcomes } from '../statistics/countAllOutcomes.ts';

/** The time that is kept to end what has begun. */
const marginMs = minuteMs;

export const handler = withMetrics((): Promise<void> =>
  countAllOutcomes(now() + timers.countOutcomes.functionTimeoutSeconds * secondMs - marginMs),
);
