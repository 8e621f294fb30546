/** Reads requests of workflow clients: their settings, destinations and bodies. Nothing is stored here. */
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { parseDestination } from '../../destination/destination.ts';
import { badRequest, HttpError } from '../../error/httpError.ts';
import { checkBodySize } from '../../message/bodies.ts';
import type { Invoke } from '../rules/invoking.ts';
import { readInvoke } from './bodyHeaders.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';
import { refusalOf, refusalOfRequest } from './refusalOf.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import { readWorkflowMessage, type WorkflowMessage } from '../rules/workflowMessage.ts';
import { settings } from '../../aws/settings.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import { urlOf, type PublishRequest } from '../../publish/prepare.ts';

/** A request of a workflow client, with the part of a workflow that its headers tell. */
export interface WorkflowRequest<M extends WorkflowMessage = WorkflowMessage> {
  readonly request: PublishRequest;
  readonly message: M;
}

export interface PreparedPart<M extends WorkflowMessage = WorkflowMessage> extends WorkflowRequest<M> {
  /** Settings as of an ordinary message. */
  readonly options: PublishOptions;
  readonly url: string;
  /** The body of an invoke; undefined for other messages. */
  readonly invoke?: Invoke | undefined;
}

/**
 * Reads which part of a workflow each of the requests is that a workflow client sent in one.
 *
 * @throws HttpError 400 for a malformed start; for a submission as {@link preparePart} does
 */
export async function readParts(
  account: Account,
  requests: readonly PublishRequest[],
): Promise<readonly WorkflowRequest[]> {
  try {
    return requests.map((request) => {
      const message = readWorkflowMessage(request, settings.headerPrefixes);
      if (message === undefined)
        throw badRequest(
          'workflow_request_invalid',
          'Messages of workflows and others cannot be in one request.',
        );
      return { request, message };
    });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw await refusalOfRequest(account, requests, error);
  }
}

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
    throw error instanceof HttpError ? await refusalOf(account, part, error) : error;
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
  if (destination.kind !== 'url') {
    throw badRequest(
      'workflow_request_invalid',
      `A message of a workflow goes to a URL, and not to a ${destination.kind === 'group' ? 'URL group' : 'Lambda function'}.`,
    );
  }
  const rules = await destinationRules(request.host, account);
  const config = ordinaryConfig(request.config, message.kind === 'call', settings.headerPrefixes);
  const options = parsePublishOptions(
    { prefix, config, otherHeaders: request.otherHeaders },
    account,
    rules,
    now(),
  );
  const url = urlOf(destination, request.otherQuery, rules);
  const invoke = message.kind === 'invoke' ? readInvoke(account, request, rules) : undefined;
  return { request, message, options, url, invoke };
}
