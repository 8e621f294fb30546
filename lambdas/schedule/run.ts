import { randomUUID } from 'node:crypto';
import { type Account, refuseWhileDraining } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { prepare } from '../publish/prepare.ts';
import { acceptAll, answerOf, notStored, type PublishAnswer } from '../publish/accept.ts';
import { isOfWorkflow, workflowPublishing } from '../publish/workflows.ts';
import { loadWholeSchedule } from './wholeSchedule.ts';

/**
 * Publishes a schedule's messages now, even if it is paused, without deduplication.
 *
 * @param host the service's host in the request
 * @throws HttpError 404, or as for a publish
 */
export async function runSchedule(
  account: Account,
  scheduleId: string,
  host: string,
): Promise<PublishAnswer> {
  refuseWhileDraining(account);
  const { schedule, body } = await loadWholeSchedule(account, scheduleId);
  // The seed is new, so that the messages have new ids.
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
