/** A step of a bulk operation: does the entries that the previous step found, and finds the next ones. */
import { randomUUID } from 'node:crypto';
import { isServed, type Account } from '../account/account.ts';
import { beginChange, finishChange, theService } from '../audit/audited.ts';
import { HttpError } from '../error/httpError.ts';
import { withMetrics } from '../aws/metrics.ts';
import { TransientError } from '../error/transientError.ts';
import type { BulkJob } from '../job/job.ts';
import type { GiveUpReason } from '../job/redelivery.ts';
import { now } from '../shared/clock.ts';
import { reportUsage } from '../usage/counter.ts';
import { sendStep } from './bulks.ts';
import { byId, findNext, leftOf } from './entries.ts';
import { operations, type Answered } from './operations.ts';
import { changeBulk, type Bulk } from './store/rows.ts';

/**
 * @returns how many entries of the step are done, those that are left, and the error that ends the operation
 */
async function doEntries(account: Account, bulk: Bulk) {
  const { operation, ids } = bulk;
  let answer: Answered = {};
  try {
    if (!isServed(account)) throw new HttpError(401, 'account_inactive', 'The account is not active.');
    if (ids.length > 0) answer = await operations[operation].request(account, byId(bulk), bulk);
    if (answer.cursor) throw new TransientError('The time was too short for the step.');
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error;
    answer = { refusal: error };
  }
  const { refusal } = answer;
  const done = answer.cancelled ?? answer.deleted ?? (answer.responses ?? answer.workflowRuns ?? []).length;
  const left = answer.left ?? (done < ids.length ? await leftOf(account, bulk) : []);
  // The other entries were done by an earlier try.
  const isShared = bulk.begun !== undefined || refusal !== undefined;
  return { done: isShared ? ids.length - left.length : done, left, refusal };
}

/**
 * Does a step, and sends the job of the next. If it is done twice, each entry counts once: only the latest
 * try writes its outcome, and counts what earlier tries did. Each bundle has a separate copy of this code.
 *
 * @throws if it must be retried
 */
export const doStep = withMetrics(async (account: Account, job: BulkJob, isAgain: boolean): Promise<void> => {
  const { bulkId, step } = job;
  const begun = randomUUID();
  const { before: bulk, after: started } = await changeBulk(account.id, bulkId, (found) =>
    found.state === 'running' && found.step === step
      ? { begun, begunAt: found.begunAt ?? Math.max(now(), found.createdAt + 1) }
      : undefined,
  );
  if (bulk === undefined || started === undefined) {
    // The worker that did the step may have died before it sent the next one.
    if (isAgain && bulk?.state === 'running' && bulk.step === step + 1) await sendStep(account.id, bulk);
    return;
  }
  const { done, left, refusal } = await doEntries(account, { ...bulk, begunAt: started.begunAt });
  const next =
    refusal === undefined
      ? { ...(await findNext(account, bulk, operations[bulk.operation].atOnce)), begunAt: undefined }
      : { ids: left };
  await reportUsage(account);
  const isDone = 'isRead' in next && next.isRead && next.ids.length === 0;
  const { before, after } = await changeBulk(account.id, bulkId, (found) =>
    found.step === step && found.begun === begun
      ? {
          ...next,
          step: step + 1,
          begun: undefined,
          ended: begun,
          done: found.done + done,
          failed: found.failed + (refusal === undefined ? left.length : 0),
          error: refusal && { code: refusal.code, error: refusal.message },
          state: refusal === undefined ? (isDone ? 'done' : found.state) : 'failed',
        }
      : undefined,
  );
  // If the SDK repeated the write, the row shows this try.
  const ended = after ?? (before?.ended === begun ? before : undefined);
  if (ended?.state === 'running') await sendStep(account.id, ended);
  if (ended?.state === 'done') await noteEnd(account, ended);
});

/** Writes another entry of the audit trail, with the number. The entry of the request has the filters. */
async function noteEnd(account: Account, { bulkId, operation, done }: Bulk): Promise<void> {
  const place = await beginChange(account, { actor: theService, action: operation, subject: bulkId });
  await finishChange(place, { number: done });
}

/** Fails an operation whose step kills its worker, or fails each time because of a bug. */
export async function giveUpStep({ accountId, bulkId, step }: BulkJob, why: GiveUpReason): Promise<void> {
  const who = why === 'deaths' ? 'worker died' : 'service failed';
  const error = `The ${who} each time it did this step; the operator finds the reason in the worker's log.`;
  await changeBulk(accountId, bulkId, (found) =>
    found.state === 'running' && found.step === step
      ? { state: 'failed', error: { code: 'service_failed', error } }
      : undefined,
  );
}
