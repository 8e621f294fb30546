import { isServed } from '../account/account.ts';
import { HttpError } from '../error/httpError.ts';
import { settings } from '../aws/settings.ts';
import { loadAccount } from '../account/accounts.ts';
import { loadBody } from '../message/bodies.ts';
import type { StoredSchedule } from './rows.ts';
import { log } from '../aws/log.ts';
import { acceptEach } from '../publish/accept.ts';
import { prepare } from '../publish/prepare.ts';
import { isOfWorkflow, workflowPublishing } from '../publish/workflows.ts';
import { ensureQueue } from '../lane/queues.ts';
import { withCharges } from '../usage/charge.ts';
import { reportUsage } from '../usage/counter.ts';

/**
 * Publishes what a schedule says.
 *
 * @param time Unix milliseconds of the fire
 * @returns the ids of the messages that were made, or why there are none
 */
export async function publishFire(
  schedule: StoredSchedule,
  time: number,
): Promise<{ readonly messageIds: readonly string[]; readonly error?: string }> {
  const { accountId, scheduleId, seed, saveId } = schedule;
  const account = await loadAccount(accountId, false);
  if (account === undefined) return { messageIds: [], error: 'The account is not there.' };
  // An account that moved cannot change or delete a schedule here, so the schedule must not go on.
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
        // Messages that could not be accepted are accepted under the same ids when the fire is sent again.
        const failures = [...(await acceptEach(drafts)).values()];
        if (failures.length > 0)
          throw new AggregateError(failures, 'Not every message of a fire could be stored.');
      });
    } finally {
      // This holds for messages that were reserved and given back, too: other processes would hold the account to them.
      await reportUsage(account);
    }
    return { messageIds: drafts.map(({ message }) => message.messageId) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    log.warn('A schedule fired, but nothing could be published', {
      scheduleId,
      error: error.message,
    });
    return { messageIds: [], error: error.message };
  }
}
