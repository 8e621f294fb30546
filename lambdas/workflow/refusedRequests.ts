/**
 * Refusals of requests that change runs.
 *
 * The published client reads status 400 as "the run has ended" and answers its delivery with a success, so an open run would
 * wait forever. A permanent refusal therefore fails the run, and has status 412, which makes newer clients fail their delivery
 * at once. A temporary refusal, such as 429, fails the delivery, which is retried.
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
import { givenWithRefused, noteFailureCallback } from './steps/namedFailureCallback.ts';
import { loadSnapshot } from './store/journals.ts';
import { putRefusal } from './store/lastRefusals.ts';

export interface RefusedRequest extends Glimpse {
  /** Whether the body is a batch whose items name the run. */
  readonly isBatch: boolean;
  /** The id of the run, if the request ends a run. */
  readonly ends?: string | undefined;
  /** The host of this service in the request. */
  readonly host: string;
}

/** A run as a request names it. Some clients omit its start. */
interface NamedRun extends WhichRun {
  readonly message?: Glimpse | undefined;
}

/**
 * The delay until the service fails the run. Newer clients fail it sooner, by their answer to the delivery,
 * which also names the step.
 */
const failsAfterMs = 3 * secondMs;

/**
 * Makes the answer to a refused request, and fails its run.
 *
 * @throws errors of AWS; then the request must be answered with a 5xx status, so that the endpoint retries it
 */
export async function refusalOfRequest(
  { account, access }: Pick<Caller, 'account' | 'access'>,
  request: RefusedRequest,
  error: HttpError,
): Promise<HttpError> {
  const refusal = asSubmissionRefusal(error);
  if (refusal.status !== 412) return error;
  const run = runOf(request);
  const mayWrite = access !== 'read';
  if (run === undefined) return error;
  // Only endpoints send invokes. If one got 400, its run would wait forever.
  if (run === 'unreadable') return mayWrite ? refusal : error;
  const key: RunKey = { accountId: account.id, runId: run.runId };
  const snapshot = await loadSnapshot(key);
  if (snapshot === undefined || !isMeant(snapshot, run))
    return mayWrite && request.ends === undefined ? endedRun(run.runId) : error;
  const start = await settingsOfRun(key, snapshot);
  // A token may fail only runs at its own destinations, and a read-only token may not fail any. If the
  // endpoint then ignores the refusal, the run hangs.
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
  // SQS does not accept these characters, which the message may contain.
  const reason = message.replaceAll(/[\ufffe\uffff]/g, '\ufffd');
  await sendJob({ kind: 'runRefused', ...key, startSeq, code, reason }, now() + failsAfterMs);
  return refusal;
}

function runOf({ config, body, isBatch, ends }: RefusedRequest): NamedRun | 'unreadable' | undefined {
  if (ends !== undefined) return { runId: ends, createdAt: createdAtIn(config) };
  for (const message of isBatch ? messagesIn(body) : [{ config, body }]) {
    const run = runOfMessage(message);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** The places of a request in which older clients name the failure callback of the run. */
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
    // The body may be truncated.
    const [, runId] = /"workflowRunId"\s*:\s*"([^"\\]+)"/.exec(text) ?? [];
    return runId === undefined ? undefined : { runId };
  }
}

/** @throws HttpError 503 if other processes kept changing the run, or errors of the work */
export async function refuseWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunBusy)) throw error;
    throw new HttpError(503, 'busy', 'The run is being changed by many at once; send the request again.');
  }
}
