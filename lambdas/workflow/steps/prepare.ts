/** Reads a request of a workflow client: its settings, its destination and its body. Nothing is stored here. */
import { canonicalize } from '../../request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { parseDestination, type DestinationRules } from '../../destination/destination.ts';
import { readHeaders, type Header } from '../../shared/headers.ts';
import { badRequest, HttpError } from '../../error/httpError.ts';
import { checkBodySize } from '../../message/bodies.ts';
import { parseInvoke, type Invoke } from '../rules/invoking.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';
import { asSubmissionRefusal, endedRun, refusedSubmission } from '../rules/refusals.ts';
import { hasEnded } from '../run.ts';
import type { StartMessage, WorkflowMessage } from '../rules/workflowMessage.ts';
import { settings } from '../../aws/settings.ts';
import { loadSnapshot } from '../store/journals.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import { urlOf, type PublishRequest } from '../../publish/prepare.ts';

/** A request of a workflow client, with the part of a workflow that its headers say it is. */
export interface WorkflowRequest<M extends WorkflowMessage = WorkflowMessage> {
  readonly request: PublishRequest;
  readonly message: M;
}

export interface PreparedPart<M extends WorkflowMessage = WorkflowMessage> extends WorkflowRequest<M> {
  /** Settings as of an ordinary message. */
  readonly options: PublishOptions;
  readonly url: string;
  /** Of an invoke: what its body says. */
  readonly invoke?: Invoke | undefined;
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
  const invoke = message.kind === 'invoke' ? readInvoke(account, request, rules) : undefined;
  return { request, message, options, url, invoke };
}

/** Reads what an invoke says of its invoker, which is told of the end: so nothing there may be wrong. */
function readInvoke(account: Account, { body, prefix }: PublishRequest, rules: DestinationRules): Invoke {
  const { payload, invoker } = parseInvoke(body);
  const headers = readHeaders('headers', invoker.headers);
  optionsOfHeaders(account, prefix, headers, rules);
  const url = urlOf({ url: invoker.url }, [], rules, 'workflowUrl');
  return { payload, invoker: { ...invoker, url, headers } };
}

/**
 * Reads headers that stand in a submission's body, and are those of a publish.
 *
 * @throws HttpError as a publish does
 */
export function optionsOfHeaders(
  account: Account,
  prefix: string,
  headers: readonly Header[],
  rules: DestinationRules,
): PublishOptions {
  const { headerPrefixes } = settings;
  const { config } = canonicalize(headers, [], headerPrefixes);
  const ordinary = ordinaryConfig(config, false, headerPrefixes);
  return parsePublishOptions({ prefix, config: ordinary, otherHeaders: [] }, account, rules, now());
}

/**
 * Chooses the status of a refusal. The client takes 400 for the end of the run: a submission that is malformed gets it only
 * where that is true.
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
    // Whose step it is cannot be read either. Only endpoints send such, and 400 would let the run wait for ever.
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
  const head = await loadSnapshot({ accountId: account.id, runId });
  const isActive =
    head !== undefined && !hasEnded(head.state) && (createdAt === undefined || createdAt === head.createdAt);
  return isActive ? asSubmissionRefusal(error) : endedRun(runId);
}

/**
 * Chooses the status of the refusal of a whole request, of which not all could be read: that of its first submission to a run.
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
