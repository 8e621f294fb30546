import * as z from 'zod/mini';
import { now } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { shownHeaders, type Header } from '../../shared/headers.ts';
import { headersIn, optionalField } from '../../shared/json.ts';
import { eachOf } from '../../shared/lists.ts';
import { isFinal, type Attempt } from '../../message/message.ts';
import type { CallRecord, InvokeRecord, RunKey } from '../rules/journal.ts';
import type { History, Known, RunMessage } from './rules/runMessage.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../../message/history.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { loadRow } from '../store/journals.ts';
import { loadListedRun } from '../store/runList.ts';
import type { RunView } from './runView.ts';

/** Whether a body is still stored. Its row may be kept longer. */
const isKept = (untilMs: number): boolean => untilMs > now();

/** At most this many, because each may have a body of some megabytes. */
const readAtOnce = 5;

/** A third party's answer, in a step's result or a message to the endpoint. */
const answerShape = z.object({
  status: z.number(),
  body: optionalField(z.unknown()),
  header: optionalField(headersIn('The status of the answer.')),
});

function answerIn(text: string): z.infer<typeof answerShape> | undefined {
  try {
    return answerShape.safeParse(JSON.parse(text)).data;
  } catch {
    // The text is not such JSON. An endpoint can write anything.
    return undefined;
  }
}

export interface CallResponse {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body?: string | undefined;
}

const lowerCase = (headers: readonly Header[]): readonly Header[] =>
  headers.map(([name, value]) => [name.toLowerCase(), value]);

/** Reads a call's answer from the result of its step. The client writes a body that is not text as JSON. */
export function responseInResult(view: RunView, out: string): CallResponse | undefined {
  const answer = answerIn(out);
  if (answer === undefined) return undefined;
  const { status, header = [], body } = answer;
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  return { status, headers: view.headers(lowerCase(header)), body: view.text(text) };
}

async function responseOf(
  view: RunView,
  accountId: string,
  resultId: string,
  { response }: Attempt,
): Promise<CallResponse> {
  const history = await loadMessage({ accountId, messageId: resultId });
  const stored = history !== undefined && isKept(history.message.expiresAt) ? history.body : undefined;
  const answer = stored && answerIn(Buffer.from(await loadBody(resultId, stored)).toString('utf8'));
  if (answer === undefined) {
    return {
      status: response.status,
      headers: view.headers(response.headers),
      body: view.text(response.body),
    };
  }
  const { status, header = [], body } = answer;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'base64') : Buffer.alloc(0);
  return { status, headers: view.headers(lowerCase(header)), body: view.text(bytes) };
}

/** Finds the attempt that ended a call, and the message that delivers its answer to the endpoint. */
export function answerOf(history: MessageHistory | undefined) {
  const attempt = history?.attempts.find((one) => isFinal(one) && one.state !== 'CANCELED');
  const [resultId] = history && attempt ? callbackIdsOf({ history, attempt }) : [];
  return { attempt, resultId };
}

export const callbackOf = (
  resultId: string | undefined,
  histories: ReadonlyMap<string, History>,
): RunMessage['callback'] =>
  resultId === undefined ? undefined : { messageId: resultId, failures: [], ...histories.get(resultId) };

interface LoadedCall extends Known {
  readonly resultId: string | undefined;
}

async function loadCall(
  view: RunView,
  history: MessageHistory,
  responses: ReadonlyMap<number, CallResponse>,
  stepId: number,
): Promise<LoadedCall> {
  const { message } = history;
  const { attempt, resultId } = answerOf(history);
  const own = view.with(message.redaction);
  const response =
    responses.get(stepId) ??
    (attempt && resultId !== undefined
      ? await responseOf(own, message.accountId, resultId, attempt)
      : undefined);
  const callBody = own.hasTexts ? own.text(await loadBody(message.messageId, history.body)) : undefined;
  const headers = shownHeaders(own.headers(message.headers));
  return {
    step: { headers, retries: message.maxRetries, retryDelay: message.retryDelay },
    details: {
      callUrl: shownUrl(message.url),
      callMethod: message.method,
      callHeaders: headers,
      callBody,
      callResponseStatus: response?.status,
      callResponseBody: response?.body,
      callResponseHeaders: response && shownHeaders(response.headers),
    },
    resultId,
  };
}

/**
 * @param responses the answers that are already known, by step id
 * @returns by message id; messages that are not stored yet or have expired are missing
 */
export async function loadCalls(
  view: RunView,
  accountId: string,
  records: readonly CallRecord[],
  responses: ReadonlyMap<number, CallResponse>,
): Promise<ReadonlyMap<string, LoadedCall>> {
  const calls = new Map<string, LoadedCall>();
  await eachOf(records, readAtOnce, async ({ messageId, step }) => {
    const history = await loadMessage({ accountId, messageId });
    if (history === undefined || !isKept(history.message.expiresAt)) return;
    calls.set(messageId, await loadCall(view, history, responses, step.stepId));
  });
  return calls;
}

/** @returns by the message ids of the invokes; expired runs are missing */
export async function loadInvoked(
  view: RunView,
  accountId: string,
  records: readonly InvokeRecord[],
): Promise<ReadonlyMap<string, Known>> {
  const invoked = new Map<string, Known>();
  await eachOf(records, readAtOnce, async ({ messageId, runId, createdAt }) => {
    const key: RunKey = { accountId, runId };
    const listed = await loadListedRun({ ...key, createdAt });
    const row = listed && (await loadRow(key, listed.startSeq));
    if (row?.record.kind !== 'start' || !isKept(row.snapshot.keptUntil)) return;
    const { start, entry } = row.record;
    const own = view.with(start.settings.redaction);
    const body = own.hasTexts ? own.text(await loadBody(entry.messageId, entry.body)) : undefined;
    const headers = shownHeaders(own.forwarded(start.forwarded));
    invoked.set(messageId, {
      step: { headers },
      details: { invokedWorkflowRunBody: body, invokedWorkflowRunHeaders: headers },
    });
  });
  return invoked;
}
