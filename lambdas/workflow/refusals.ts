/**
 * Refusals of requests that change runs.
 *
 * A run waits for the requests of its endpoint. Their client takes 400 for the end of the run and answers its delivery with a
 * success: the run would stay open for ever. So a refusal for good fails the run, and its status is 412, at which newer clients
 * fail their delivery at once. A refusal that passes, such as 429, keeps its status: the delivery fails by it, and is retried.
 */
import type { Caller } from '../account/caller.ts';
import { HttpError } from '../error/httpError.ts';
import { sendJob } from '../job/send.ts';
import { messagesIn, type Glimpse } from '../publish/batchItems.ts';
import { isOfRun } from '../publish/workflows.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { now, secondMs } from '../shared/clock.ts';
import { scoped, type Config } from '../shared/config.ts';
import { isMeant, type RunKey, type WhichRun } from './rules/journal.ts';
import { asSubmissionRefusal, endedRun } from './rules/refusals.ts';
import { RunBusy, settingsOfRun } from './runs/changeRun.ts';
import { configOfInvoker } from './steps/bodyHeaders.ts';
import { givenWithRefused, noteFailureCallback } from './steps/failureCallback.ts';
import { loadSnapshot } from './store/journals.ts';
import { putRefusal } from './store/lastRefusals.ts';

/** A request that was refused. */
export interface RefusedRequest extends Glimpse {
  /** Whether its body is a batch, whose items name the run. */
  readonly isBatch: boolean;
  /** The run that the request ends, in the name of its endpoint. */
  readonly ends?: string | undefined;
  /** The host of the service that the request was sent to. */
  readonly host: string;
}

/** A run as a request names it; without its start where the client does not tell that. */
interface NamedRun extends WhichRun {
  /** The message that names it. */
  readonly message?: Glimpse | undefined;
}

/**
 * The run fails this long after the refusal, unless its endpoint has ended it before: newer clients do so by the answer to their
 * delivery, which tells the name of the step as well.
 */
export const failsAfterMs = 3 * secondMs;

/**
 * Makes the answer to a refused request, and fails the run that it belongs to.
 *
 * @throws the errors of AWS: the request has to be answered with a failure of the service then, which its endpoint retries
 */
export async function refusalOfRequest(
  { account, access }: Pick<Caller, 'account' | 'access'>,
  request: RefusedRequest,
  error: HttpError,
): Promise<HttpError> {
  const refusal = asSubmissionRefusal(error);
  // A refusal that passes: the endpoint's delivery fails by it, and is retried.
  if (refusal.status !== 412) return error;
  const run = runOf(request);
  const mayWrite = access !== 'read';
  if (run === undefined) return error;
  // Only endpoints send invokes, and 400 would let their run wait for ever.
  if (run === 'unreadable') return mayWrite ? refusal : error;
  const key: RunKey = { accountId: account.id, runId: run.runId };
  const snapshot = await loadSnapshot(key);
  if (snapshot === undefined || !isMeant(snapshot, run))
    return mayWrite && request.ends === undefined ? endedRun(run.runId) : error;
  const start = await settingsOfRun(key, snapshot);
  // A token may fail runs at its own destinations only, and one that only reads may fail none: the run hangs if its endpoint takes no notice.
  if (!mayWrite || account.scope?.allows(start.url) === false) {
    await putRefusal(key, snapshot, { code: error.code, message: error.message, at: now() });
    return error;
  }
  if (start.failureCallback === undefined && run.message !== undefined) {
    const configs = configsOf(run.message);
    const rules = await destinationRules(request.host, account);
    const telling = givenWithRefused(account, start.prefix, configs, rules);
    await noteFailureCallback({ key, snapshot, start }, telling);
  }
  const { startSeq } = snapshot;
  const { code, message } = refusal;
  // A sentence may quote these, and SQS takes all characters but them.
  const reason = message.replaceAll(/[\ufffe\uffff]/g, '\ufffd');
  await sendJob({ kind: 'runRefused', ...key, startSeq, code, reason }, now() + failsAfterMs);
  return refusal;
}

/** Finds the run that a request belongs to; undefined for a request that belongs to none. */
function runOf({ config, body, isBatch, ends }: RefusedRequest): NamedRun | 'unreadable' | undefined {
  if (ends !== undefined) return { runId: ends, createdAt: createdAtIn(config) };
  for (const message of isBatch ? messagesIn(body) : [{ config, body }]) {
    const run = runOfMessage(message);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** The configurations of a submission in which older clients name the failure callback of the run. */
const configsOf = ({ config, body }: Glimpse): readonly Config[] => [
  ...(isInvoke(config) ? [configOfInvoker(body)] : [config]),
  scoped(config, 'callback'),
];

const isInvoke = (config: Config): boolean => config.get('workflow-invoke')?.[0]?.toLowerCase() === 'true';

const createdAtIn = (config: Glimpse['config']): number | undefined => {
  const [text = ''] = config.get('workflow-createdat') ?? [];
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

function runOfMessage(message: Glimpse): NamedRun | 'unreadable' | undefined {
  const { config, body } = message;
  if (isInvoke(config)) {
    const invoker = invokerIn(body);
    return invoker === undefined ? 'unreadable' : { ...invoker, message };
  }
  const [runId = ''] = config.get('workflow-runid') ?? [];
  return isOfRun(message) && runId !== '' ? { runId, createdAt: createdAtIn(config), message } : undefined;
}

/** Finds the invoker in the body of an invoke, whatever else is wrong with it. */
function invokerIn(body: Uint8Array): NamedRun | undefined {
  const text = Buffer.from(body).toString('utf8');
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null || !('workflowRunId' in read)) return undefined;
    const { workflowRunId: runId } = read;
    const createdAt = 'workflowRunCreatedAt' in read ? read.workflowRunCreatedAt : undefined;
    if (typeof runId !== 'string') return undefined;
    return { runId, createdAt: typeof createdAt === 'number' ? createdAt : undefined };
  } catch {
    // It may have been cut on its way.
    const [, runId] = /"workflowRunId"\s*:\s*"([^"\\]+)"/.exec(text) ?? [];
    return runId === undefined ? undefined : { runId };
  }
}

/**
 * Does something for a request to the API that changes runs.
 *
 * @throws HttpError 503 when other processes changed the run again and again; and the errors of the work itself
 */
export async function refuseWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunBusy)) throw error;
    throw new HttpError(503, 'busy', 'The run is being changed by many at once; send the request again.');
  }
}
