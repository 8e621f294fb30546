import { lookForAlarms } from '../alarm/look.ts';
import { withMetrics } from '../aws/metrics.ts';
import { timers } from '../aws/resources.ts';
import { minuteMs, now, secondMs } from '../shared/clock.ts';

/** No new work begins in this time before the end, so that current work can finish. */
const marginMs = minuteMs;

export const handler = withMetrics((): Promise<void> =>
  lookForAlarms(now() + timers.lookForAlarms.functionTimeoutSeconds * secondMs - marginMs),
);
