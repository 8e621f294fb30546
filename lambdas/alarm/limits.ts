import { limitsOf, type Account } from '../account/account.ts';
import { loadSize } from '../deadLetter/sizeRows.ts';
import { namesOfQueues } from '../lane/queues.ts';
import { dayOf, now } from '../shared/clock.ts';
import { dollarsFor } from '../statistics/dollars.ts';
import { usageOf } from '../usage/usageRows.ts';
import type { Found, FoundOfKind } from './alarm.ts';

/** @param percent a limit is near if this part of it is used */
export async function nearLimits(
  account: Account,
  percent: number,
  numberOfSchedules: number,
): Promise<FoundOfKind> {
  const time = now();
  const today = dayOf(time);
  const [usage, letters, queues] = await Promise.all([
    usageOf(account.id, `${today.slice(0, 7)}-01`, today),
    loadSize(account.id, time),
    namesOfQueues(account),
  ]);
  const all = limitsOf(account);
  const messages = [...usage.values()].reduce((sum, day) => sum + day.messages, 0);
  const used: readonly (readonly [subject: string, name: string, used: number, most: number])[] = [
    [
      'max_requests_per_day_hard',
      'messages today',
      usage.get(today)?.requests ?? 0,
      all.max_requests_per_day_hard,
    ],
    ['budget', 'dollars this month', dollarsFor(messages), account.budget],
    ['max_dlq_size', 'dead letters and failed runs', letters, all.max_dlq_size],
    ['max_schedules', 'schedules', numberOfSchedules, all.max_schedules],
    ['max_queues', 'queues', queues.size, all.max_queues],
  ];
  return {
    found: used.flatMap(([subject, name, value, most]): Found[] =>
      // A budget of 0 means no budget. A limit of 0 is never near.
      most === 0 || value * 100 < percent * most
        ? []
        : [
            {
              kind: 'limits',
              subject,
              title: `The limit ${subject} is nearly reached`,
              detail: `${value} ${name}, and ${most} are allowed.`,
            },
          ],
    ),
    isCut: false,
  };
}
