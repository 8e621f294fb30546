import { randomUUID } from 'node:crypto';
import { type Account, refuseWhileDraining } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { prepare } from '../publish/prepare.ts';
import { acceptAll, answerOf, notStored, type PublishAnswer } from '../publish/accept.ts';
import { isOfWorkflow, workflowPublishing } from '../publish/workflows.ts';
import { loadWholeSchedule } from './wholeSchedule.ts';

/**
 * Publishes what a schedule says, now, whether it is paused or not: to a URL, or to every endpoint of a URL group. Like
 * a fire it ignores deduplication, but it is no fire: the schedule, its last fire and its next one stay as they are.
 *
 * @param host the host of the service that the request was sent to
 * @throws HttpError 404 for a schedule that is not there; or as for a publish. Nothing is accepted then
 */
export async function runSchedule(
  account: Account,
  scheduleId: string,
  host: string,
): Promise<PublishAnswer> {
  refuseWhileDraining(account);
  const { schedule, body } = await loadWholeSchedule(account, scheduleId);
  // The seed is new, so that each run makes messages of its own.
  const fire = { scheduleId, time: now(), seed: randomUUID() };
  const request = { ...schedule, body, host, fire };
  if (isOfWorkflow(request)) {
    const [started] = await (await workflowPublishing()).publishRequests(account, [request]);
    if (started === undefined) throw notStored();
    return { status: 200, body: started };
  }
  const prepared = await prepare(account, request);
  const { drafts } = prepared;
  await acceptAll(account, drafts, schedule.queueName);
  return answerOf(
    prepared,
    drafts.map((draft) => ({ draft, messageId: draft.message.messageId, isDuplicate: false })),
  );
}
