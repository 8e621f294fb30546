import { withMetrics } from '../aws/metrics.ts';
import { timers } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { parseJob } from '../job/job.ts';
import type { Parked } from '../job/parked.ts';
import { parseAccountChange } from '../management/accountChange.ts';
import { redriveParked } from '../recovery/redrive.ts';
import { parseNotice } from '../schedule/schedule.ts';
import { minuteMs, now, secondMs } from '../shared/clock.ts';

/** No new work begins in the last minute, so that current work can finish. */
const marginMs = minuteMs;

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  fire: parseNotice,
  accountChanges: parseAccountChange,
};

/**
 * Whether this release may succeed with a parked message: it can read the message, or it is not the release
 * that parked it.
 */
function isWanted({ why, queue, release, text }: Parked): boolean {
  if (why === 'deaths') return release !== settings.release;
  try {
    (parsers[queue] ?? parseJob)(text);
    return true;
  } catch {
    return false;
  }
}

export const handler = withMetrics(async (): Promise<void> => {
  const until = now() + timers.redrive.functionTimeoutSeconds * secondMs - marginMs;
  await redriveParked({ isWanted, until });
});
