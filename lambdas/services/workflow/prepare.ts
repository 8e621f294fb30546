/** Reads a request of a workflow client: its settings, its destination and its body. Nothing is stored here. */
import { parsePublishOptions, type PublishOptions } from '../../api/publishOptions.ts';
import type { Account } from '../../domain/account/account.ts';
import type { Config } from '../../domain/config.ts';
import { now } from '../../domain/clock.ts';
import { parseDestination } from '../../domain/delivery/destination.ts';
import { badRequest, HttpError } from '../../domain/httpError.ts';
import { checkBodySize } from '../../domain/message/bodySize.ts';
import { ordinaryConfig } from '../../domain/workflow/ordinaryConfig.ts';
import { asSubmissionRefusal, endedRun, refusedSubmission } from '../../domain/workflow/refusals.ts';
import { hasEnded } from '../../domain/workflow/run.ts';
import type { StartMessage, WorkflowMessage } from '../../domain/workflow/workflowMessage.ts';
import { settings } from '../../settings.ts';
import { loadHead } from '../../stores/workflow/journals.ts';
import { destinationRules } from '../delivery/destinations.ts';
import { urlOf, type PublishRequest } from '../message/prepare.ts';

/** A request of a workflow client, with the part of a workflow that its headers say it is. */
export interface WorkflowRequest<M extends WorkflowMessage = WorkflowMessage> {
  readonly request: PublishRequest;
  readonly message: M;
}

export interface PreparedPart<M extends WorkflowMessage = WorkflowMessage> extends WorkflowRequest<M> {
  /** Settings as of an ordinary message. */
  readonly options: PublishOptions;
  readonly url: string;
}

export const isStart = (message: WorkflowMessage): message is StartMessage =>
  message.kind === 'start' || message.kind === 'invoke';

/**
 * Reads a request.
 *
 * @throws HttpError as a publish does; for a submission 400 where its run has ended or is not known, else 412
 */
export async function preparePart<M extends WorkflowMessage>(
  account: Account,
  part: WorkflowRequest<M>,
): Promise<PreparedPart<M>> {
  try {
    return await read(account, part);
  } catch (error) {
    throw error instanceof HttpError ? await refusalOf(account, part.message, error) : error;
  }
}

async function read<M extends WorkflowMessage>(
  account: Account,
  { request, message }: WorkflowRequest<M>,
): Promise<PreparedPart<M>> {
  if (message.kind === 'callResult' || message.kind === 'failureRequest') {
    throw refusedSubmission(`A message of the call type of a ${message.kind} is the service's to make.`);
  }
  const { body, queueName, prefix } = request;
  checkBodySize(account, body);
  if (queueName !== undefined) {
    throw badRequest(
      'workflow_request_invalid',
      'A message of a workflow cannot go through a queue; a flow-control key limits its run.',
    );
  }
  const destination = parseDestination(request.destination);
  if (destination.kind === 'group') {
    throw badRequest(
      'workflow_request_invalid',
      'A message of a workflow goes to a URL, and not to a URL group.',
    );
  }
  const rules = await destinationRules(request.host);
  const config = ordinaryConfig(request.config, message.kind === 'call', settings.headerPrefixes);
  const options = parsePublishOptions(
    { prefix, config, otherHeaders: request.otherHeaders },
    account,
    rules,
    now(),
  );
  const url = urlOf(destination, request.otherQuery, rules);
  return { request, message, options, url };
}

/**
 * Chooses the status of a refusal. The client takes 400 for the end of the run: a submission that is malformed gets it only
 * where that is true.
 */
export async function refusalOf(
  account: Account,
  message: WorkflowMessage,
  error: HttpError,
): Promise<HttpError> {
  return isStart(message) ? error : refusalFor(account, message, error);
}

/** Chooses the status of a refusal for a submission to a run, as {@link refusalOf} does. */
async function refusalFor(
  account: Account,
  { runId, createdAt }: { readonly runId: string; readonly createdAt?: number | undefined },
  error: HttpError,
): Promise<HttpError> {
  const head = await loadHead({ accountId: account.id, runId });
  const isActive =
    head !== undefined && !hasEnded(head.state) && (createdAt === undefined || createdAt === head.createdAt);
  return isActive ? asSubmissionRefusal(error) : endedRun(runId);
}

/**
 * Chooses the status of the refusal of a whole request, of which not all could be read: that of its first submission to a run.
 *
 * @param configs of its messages, as far as they could be read
 */
export async function refusalOfRequest(
  account: Account,
  configs: readonly Config[],
  error: HttpError,
): Promise<HttpError> {
  for (const config of configs) {
    const [isStarting] = config.get('workflow-init') ?? [];
    const [runId] = config.get('workflow-runid') ?? [];
    if (isStarting?.toLowerCase() === 'false' && runId !== undefined && runId !== '') {
      return refusalFor(account, { runId }, error);
    }
  }
  return error;
}
