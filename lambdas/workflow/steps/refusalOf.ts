/** Refusals of requests of workflow clients: the status depends on whether the run is active. */
import type { Account } from '../../account/account.ts';
import type { HttpError } from '../../error/httpError.ts';
import type { PublishRequest } from '../../publish/prepare.ts';
import { parseInvoke, type Invoke } from '../rules/invoking.ts';
import { isActive } from '../rules/journal.ts';
import { asSubmissionRefusal, endedRun } from '../rules/refusals.ts';
import { isStart } from '../rules/workflowMessage.ts';
import { loadSnapshot } from '../store/journals.ts';
import type { WorkflowRequest } from './prepare.ts';

/**
 * Chooses the status of a refusal. The client takes 400 for the end of the run: a malformed submission gets it only where the
 * run has ended.
 */
export async function refusalOf(
  account: Account,
  { message, request }: WorkflowRequest,
  error: HttpError,
): Promise<HttpError> {
  if (message.kind === 'invoke') return refusalOfInvoke(account, request.body, error);
  return isStart(message) ? error : refusalFor(account, message, error);
}

/** Chooses the status of the refusal of an invoke, which is a submission of the run that waits for its end. */
async function refusalOfInvoke(account: Account, body: Uint8Array, error: HttpError): Promise<HttpError> {
  let invoke: Invoke;
  try {
    invoke = parseInvoke(body);
  } catch {
    // The run cannot be read either. Only endpoints send invokes, and 400 would let their run wait for ever.
    return asSubmissionRefusal(error);
  }
  return refusalFor(account, invoke.invoker, error);
}

/** Chooses the status of a refusal for a submission to a run, as {@link refusalOf} does. */
export async function refusalFor(
  account: Account,
  { runId, createdAt }: { readonly runId: string; readonly createdAt?: number | undefined },
  error: HttpError,
): Promise<HttpError> {
  const snapshot = await loadSnapshot({ accountId: account.id, runId });
  const isOfRun = isActive(snapshot) && (createdAt === undefined || createdAt === snapshot.createdAt);
  return isOfRun ? asSubmissionRefusal(error) : endedRun(runId);
}

/**
 * Chooses the status of the refusal of a whole request that could not be read in full: the status for its first submission.
 *
 * @param messages of the request, as far as they could be read
 */
export async function refusalOfRequest(
  account: Account,
  messages: readonly Pick<PublishRequest, 'config' | 'body'>[],
  error: HttpError,
): Promise<HttpError> {
  for (const { config, body } of messages) {
    const [isStarting] = config.get('workflow-init') ?? [];
    const [isInvoke] = config.get('workflow-invoke') ?? [];
    const [runId] = config.get('workflow-runid') ?? [];
    if (isInvoke?.toLowerCase() === 'true') return refusalOfInvoke(account, body, error);
    if (isStarting?.toLowerCase() === 'false' && runId !== undefined && runId !== '') {
      return refusalFor(account, { runId }, error);
    }
  }
  return error;
}
