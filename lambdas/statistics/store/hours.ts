/** Usage by hour. Not in the file of usage rows, because few functions need it. */
import * as z from 'zod/mini';
import type { Usage } from '../../usage/usage.ts';
import { dayOfRow, hourAttribute, usageRows } from '../../usage/usageRows.ts';

export interface DayUsage extends Usage {
  /** The messages of each hour of the day in UTC, from 0 to 23. */
  readonly messagesOfHours: readonly number[];
}

const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour);
const count = z._default(z.number(), 0);

export async function usageByHour(
  ...days: Parameters<typeof usageRows>
): Promise<ReadonlyMap<string, DayUsage>> {
  const usage = new Map<string, DayUsage>();
  for await (const row of usageRows(...days)) {
    const [day, counts] = dayOfRow(row);
    const messagesOfHours = hoursOfDay.map((hour) => count.parse(row[hourAttribute(hour)]));
    usage.set(day, { ...counts, messagesOfHours });
  }
  return usage;
}
