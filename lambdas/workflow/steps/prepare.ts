/** Reads the settings, destinations and bodies of workflow clients' requests. Nothing is stored here. */
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { eachOf } from '../../shared/lists.ts';
import { parseDestination } from '../../destination/destination.ts';
import { badRequest } from '../../error/httpError.ts';
import { checkBodySize } from '../../message/bodies.ts';
import type { Invoke } from '../rules/invoking.ts';
import { readInvoke } from './bodyHeaders.ts';
import { givenWithCallback, type TellingConfig } from './namedFailureCallback.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import { readWorkflowMessage, type WorkflowMessage } from '../rules/workflowMessage.ts';
import { settings } from '../../aws/settings.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import { atPlace, orThrow } from '../../publish/batchItems.ts';
import { urlOf, type PublishRequest } from '../../publish/prepare.ts';

const others = { group: 'a URL group', arn: 'an ARN', pull: 'a name to take messages from' } as const;

/** A workflow client's request, with what its headers say about the workflow. */
export interface WorkflowRequest<M extends WorkflowMessage = WorkflowMessage> {
  readonly request: PublishRequest;
  readonly message: M;
}

export interface PreparedPart<M extends WorkflowMessage = WorkflowMessage> extends WorkflowRequest<M> {
  readonly options: PublishOptions;
  readonly url: string;
  /** The body of an invoke; undefined for other messages. */
  readonly invoke?: Invoke | undefined;
  readonly telling?: TellingConfig | undefined;
}

/** @throws HttpError that names the request's place in its batch */
const placed = async <T>({ place }: PublishRequest, work: () => Promise<T> | T): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw atPlace(place, orThrow(error));
  }
};

/** @throws HttpError 400 for a malformed start, 412 for a malformed submission */
export async function readParts(requests: readonly PublishRequest[]): Promise<readonly WorkflowRequest[]> {
  const parts: WorkflowRequest[] = [];
  await eachOf(requests, 1, async (request, index) => {
    parts[index] = await placed(request, () => readPart(request));
  });
  return parts;
}

function readPart(request: PublishRequest): WorkflowRequest {
  const message = readWorkflowMessage(request, settings.headerPrefixes);
  if (message !== undefined) return { request, message };
  throw badRequest('workflow_request_invalid', 'Messages of workflows and others cannot be in one request.');
}

export const preparePart = <M extends WorkflowMessage>(
  account: Account,
  part: WorkflowRequest<M>,
): Promise<PreparedPart<M>> => placed(part.request, () => read(account, part));

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
      `A message of a workflow goes to a URL, and not to ${others[destination.kind]}.`,
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
  if (message.kind === 'call') {
    const telling = givenWithCallback(account, prefix, request.config, rules);
    return { request, message, options, url, telling };
  }
  if (message.kind !== 'invoke') return { request, message, options, url };
  return { request, message, options, url, ...readInvoke(account, request, rules) };
}
