import { isServed } from '../account/account.ts';
import { HttpError } from '../error/httpError.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';
import { loadBody } from '../message/bodies.ts';
import type { StoredSchedule } from './schedule.ts';
import { log } from '../aws/log.ts';
import { acceptEach } from '../publish/accept.ts';
import { prepare } from '../publish/prepare.ts';
import { isOfWorkflow, workflowPublishing } from '../publish/workflows.ts';
import { ensureQueue } from '../lane/queues.ts';
import { withCharges } from '../usage/charge.ts';
import { reportUsage } from '../usage/counter.ts';

/**
 * @param time the fire's time
 * @returns the message ids, or why no message was made
 */
export async function publishFire(
  schedule: StoredSchedule,
  time: number,
): Promise<{ readonly messageIds: readonly string[]; readonly error?: string }> {
  const { accountId, scheduleId, seed, saveId } = schedule;
  const account = await loadAccount(accountId, false);
  if (account === undefined) return { messageIds: [], error: 'The account is not there.' };
  // The account has moved to another region and could not change or delete its schedules here, so they stop.
  if (account.region !== settings.region) {
    return { messageIds: [], error: `The account is served in ${account.region}.` };
  }
  if (!isServed(account)) return { messageIds: [], error: 'The account is not active.' };
  const body = await loadBody(saveId, schedule.body);
  const [host = ''] = settings.ownHosts;
  const request = { ...schedule, body, host, fire: { scheduleId, time, seed } };
  try {
    if (isOfWorkflow(request)) {
      const runs = await (await workflowPublishing()).publishRequests(account, [request]);
      return { messageIds: runs.map(({ messageId }) => messageId) };
    }
    const { drafts } = await prepare(account, request);
    try {
      await withCharges(account, drafts.length, async ({ charge }) => {
        const refusal = charge(drafts.length);
        if (refusal !== undefined) throw refusal;
        await ensureQueue(account, schedule.queueName);
        // If the fire is retried, it accepts the failed messages under the same ids.
        const failures = [...(await acceptEach(drafts)).values()];
        if (failures.length > 0)
          throw new AggregateError(failures, 'Not every message of a fire could be stored.');
      });
    } finally {
      // Reported at once: other processes would otherwise count messages that were reserved and given back.
      await reportUsage(account);
    }
    return { messageIds: drafts.map(({ message }) => message.messageId) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    log.warn('A schedule fired, but nothing was published', {
      scheduleId,
      error: error.message,
    });
    return { messageIds: [], error: error.message };
  }
}
