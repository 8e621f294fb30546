import { type Account, refuseWhileDraining } from '../account/account.ts';
import { HttpError } from '../error/httpError.ts';
import { ensureQueue } from '../lane/queues.ts';
import { withCharges } from '../usage/charge.ts';
import { accept, answerOf, notStored, type PublishAnswer } from './accept.ts';
import { type Draft, prepare, type Prepared, type PublishRequest } from './prepare.ts';
import { isOfWorkflow, workflowPublishing } from './workflows.ts';

/**
 * Publishes to a URL, or to all or none of the endpoints of a URL group.
 *
 * @throws HttpError 400, 403, 404, 412, 413, 429 or 503
 */
export async function publish(account: Account, request: PublishRequest): Promise<PublishAnswer> {
  if (isOfWorkflow(request)) {
    const [body] = await (await workflowPublishing()).publishRequests(account, [request]);
    if (body === undefined) throw notStored();
    return { status: 200, body };
  }
  refuseWhileDraining(account);
  const prepared = await prepare(account, request);
  const { deduplication } = prepared;
  if (deduplication?.by === 'debounce') {
    const { publishDebounced } = await import('./repeated/debounce.ts');
    return publishDebounced(account, prepared, deduplication);
  }
  const [only, ...others] = prepared.drafts;
  if (only !== undefined && others.length === 0 && deduplication === undefined) {
    return publishOne(account, prepared, only);
  }
  // Loaded only now, because most requests make one message.
  const { publishAll } = await import('./batch.ts');
  const [outcome = notStored()] = await publishAll(account, [prepared]);
  if (outcome instanceof HttpError) throw outcome;
  return outcome;
}

/** Publishes a single message without deduplication, in one round trip to AWS. */
export async function publishOne(account: Account, prepared: Prepared, draft: Draft): Promise<PublishAnswer> {
  await withCharges(account, 1, async ({ charge }) => {
    const refusal = charge(1);
    if (refusal !== undefined) throw refusal;
    await ensureQueue(account, prepared.queueName);
    if (!(await accept(draft))) throw notStored();
  });
  return answerOf(prepared, [{ draft, messageId: draft.message.messageId, isDuplicate: false }]);
}
