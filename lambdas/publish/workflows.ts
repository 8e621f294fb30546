/** Requests of workflow clients among those to publish. Few are, and the code for them is loaded when the first comes. */
import type { Account } from '../account/account.ts';
import type { HttpError } from '../shared/httpError.ts';
import type { WorkflowAnswer } from '../workflow/publish.ts';
import type { PublishRequest } from './prepare.ts';

/** Tells whether a request starts a run, or belongs to one. */
export const isOfWorkflow = ({ config }: Pick<PublishRequest, 'config'>): boolean =>
  config.has('workflow-init');

/**
 * Publishes requests of workflow clients: all or none.
 *
 * @returns one answer for each, in their order
 * @throws HttpError as `publishParts` does
 */
export async function publishWorkflow(
  account: Account,
  requests: readonly PublishRequest[],
): Promise<readonly WorkflowAnswer[]> {
  const { publishRequests } = await import('../workflow/forPublish.ts');
  return publishRequests(account, requests);
}

/** The refusal of a request in which some messages are of workflows, as `refusalOfRequest` makes it. */
export async function refuseWorkflow(
  account: Account,
  messages: readonly Pick<PublishRequest, 'config' | 'body'>[],
  error: HttpError,
): Promise<HttpError> {
  const { refusalOfRequest } = await import('../workflow/forPublish.ts');
  return refusalOfRequest(account, messages, error);
}
