/**
 * Starts runs for callers without a workflow client. The endpoint is assumed to have a client from 1.0 on
 * until its answer shows otherwise.
 */
import type { Account } from '../../account/account.ts';
import { scoped, type Config } from '../../shared/config.ts';
import { parseDestination } from '../../destination/destination.ts';
import { features } from '../rules/features.ts';
import { readWorkflowMessage } from '../rules/workflowMessage.ts';
import { badRequest, HttpError } from '../../error/httpError.ts';
import { settings } from '../../aws/settings.ts';
import { readItems, type BatchRequest } from '../../publish/batchItems.ts';
import { withQuery, type PublishRequest } from '../../publish/prepare.ts';
import type { WorkflowRequest } from './prepare.ts';
import { publishParts } from './publishParts.ts';
import type { WorkflowAnswer } from '../../publish/workflows.ts';

interface Triggered {
  readonly workflowRunId: string;
  readonly workflowCreatedAt: number;
  readonly deduplicated?: true;
}

/** The header prefix of the published client, the only one that endpoints use. */
const clientsPrefix = 'Upstash';

/**
 * If no failure callback is given, it goes to the endpoint, with the run's headers, by which the endpoint may
 * identify its callers.
 */
function withFailureCallback(config: Config, url: string): Config {
  if (config.has('failure-callback')) return config;
  const forwarded = [...scoped(config, 'forward')].map(
    ([name, values]) => [`failure-callback-forward-${name}`, values] as const,
  );
  return new Map([...config, ['failure-callback', [url]], ...forwarded]);
}

/** The caller has no client, so headers in which a client describes itself are dropped. */
const ofClients = /^(workflow-(?!runid$)|feature-set$)/;

/**
 * If this header is `true`, the endpoint is first asked which client it has, which costs an extra delivery.
 */
const asksForClient = 'workflow-unknown-sdk';

function readTrigger(request: PublishRequest): WorkflowRequest {
  const { headerPrefixes } = settings;
  const given = [...request.config].filter(([name]) => !ofClients.test(name));
  const started: Config = new Map([...given, ['workflow-init', ['true']]]);
  const prefix = headerPrefixes.includes(clientsPrefix) ? clientsPrefix : request.prefix;
  // The endpoint in the path may be percent-encoded. The run's messages need it decoded.
  const destination = parseDestination(request.destination);
  const endpoint = destination.kind === 'group' ? destination.name : destination.url;
  const url = withQuery(endpoint, request.otherQuery);
  const asked = { ...request, prefix, config: withFailureCallback(started, url) };
  const message = readWorkflowMessage(asked, headerPrefixes);
  if (message?.kind !== 'start') throw badRequest('workflow_request_invalid', 'The request starts no run.');
  // Features of all clients from 1.0 on.
  const able = new Set(features.filter((feature) => feature !== 'WF_NoDelete'));
  const isUnknownClient = request.config.get(asksForClient)?.[0]?.toLowerCase() === 'true';
  return { request: asked, message: { ...message, features: able, isUnknownClient, isWithoutClient: true } };
}

function answerOf({ workflowRunId, workflowCreatedAt, deduplicated }: WorkflowAnswer): Triggered {
  if (workflowRunId === undefined || workflowCreatedAt === undefined) throw new Error('No run was started.');
  return { workflowRunId, workflowCreatedAt, ...(deduplicated && { deduplicated }) };
}

export async function trigger(account: Account, request: PublishRequest): Promise<Triggered> {
  const [answer] = await publishParts(account, [readTrigger(request)]);
  if (answer === undefined) throw new Error('A trigger has no answer.');
  return answerOf(answer);
}

/**
 * Starts all runs or none.
 *
 * @throws HttpError as a publish does
 */
export async function triggerBatch(account: Account, request: BatchRequest): Promise<readonly Triggered[]> {
  const parts = (await readItems(request)).map((item) => {
    if (item instanceof HttpError) throw item;
    return readTrigger(item);
  });
  return (await publishParts(account, parts)).map(answerOf);
}
