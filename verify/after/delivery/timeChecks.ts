/** Checks what EventBridge Scheduler contains, and when it fires. */
import { GetScheduleCommand, paginateListSchedules } from '@aws-sdk/client-scheduler';
import { allOf } from '../../../operate/awsCalls.ts';
import { type Check, expectThat } from '../../check.ts';
import { scheduleGroupOf } from '../../../lib/names.ts';
import { anything, publish } from '../api.ts';
import type { After } from '../context.ts';
import { until } from '../../wait.ts';

/**
 * Attempts that are due later than SQS can delay them are in Scheduler, under names that begin with the
 * message's id.
 */
export async function schedulesOf({ clients: { scheduler }, settings }: After, messageId: string) {
  const input = { GroupName: scheduleGroupOf(settings), NamePrefix: messageId };
  const all = await allOf(paginateListSchedules({ client: scheduler }, input), ({ Schedules }) => Schedules);
  return all.flatMap(({ Name }) => Name ?? []);
}

/** SQS's longest delay is 15 minutes. */
const far = '16m';

/** Scheduler starts a new schedule within a minute, and fires within a minute after each time. */
const twoFiresMs = 240_000;

const remedy =
  'Look at the schedule group and at its role, which only Scheduler may assume for this group; then at the queue of undelivered fires and the function Fire: docs/operate.md, "UndeliveredFires" and "SchedulerTarget".';

export const timeChecks: readonly Check<After>[] = [
  {
    name: 'far-delay',
    shows: 'a message that is due in 16 minutes waits in EventBridge Scheduler, and can be cancelled',
    remedy,
    run: async (after) => {
      const { api, clients, inbox, settings, timeout } = after;
      const messageId = await publish(api.client, inbox('ok').url, {
        body: 'later',
        headers: { 'svc-delay': far },
      });
      const Name = await until(
        async () => (await schedulesOf(after, messageId))[0],
        () => `Scheduler has nothing for a message that is due in ${far}.`,
        timeout,
      );
      const GroupName = scheduleGroupOf(settings);
      const { ScheduleExpression = '' } = await clients.scheduler.send(
        new GetScheduleCommand({ Name, GroupName }),
      );
      expectThat(ScheduleExpression.startsWith('at('), `Scheduler has it at ${ScheduleExpression}.`);
      await api.client.read(anything, 'DELETE', `/v2/messages/${messageId}`);
      await until(
        async () => (await schedulesOf(after, messageId)).length === 0,
        () => 'Scheduler still has the message that was cancelled.',
        timeout,
      );
      return `Scheduler had it ${ScheduleExpression}, and it was cancelled`;
    },
  },
  {
    name: 'schedule',
    shows: 'a schedule of each minute fires twice',
    remedy,
    run: async ({ api: { client }, inbox, timeout }) => {
      const one = inbox('ok');
      const scheduleId = `verify-${Date.now()}`;
      await client.read(anything, 'POST', `/v2/schedules/${one.url}`, {
        body: 'every minute',
        headers: { 'svc-cron': '* * * * *', 'svc-schedule-id': scheduleId },
      });
      const [first, second] = await one.received(2, { waitMs: timeout.waitMs + twoFiresMs });
      await client.read(anything, 'DELETE', `/v2/schedules/${scheduleId}`);
      expectThat(
        first !== undefined && second !== undefined && first.messageId !== second.messageId,
        'One fire came twice, and the next did not come.',
      );
      return `two fires came, ${Math.round((second.at - first.at) / 1_000)} s apart`;
    },
  },
];
