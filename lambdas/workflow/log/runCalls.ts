import * as z from 'zod/mini';
import { now } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { headersIn, optionalField } from '../../shared/json.ts';
import { eachOf } from '../../shared/lists.ts';
import { isFinal, type Attempt } from '../../message/message.ts';
import type { CallRecord, InvokeRecord, RunKey } from '../rules/journal.ts';
import type { KnownCall, KnownInvoked } from './rules/fromJournal.ts';
import type { CallResponse } from './rules/runRecord.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../../message/history.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { loadRow } from '../store/journals.ts';
import { loadListedRun } from '../store/runList.ts';
import type { RunView } from './runView.ts';

/** Whether a body is still stored: its row may exist longer. */
const isKept = (untilMs: number): boolean => untilMs > now();

/** Each may have a body of some megabytes. */
const readAtOnce = 5;

/** A third party's answer, in a step's result or a message to the endpoint. */
const answerShape = z.object({
  status: z.number(),
  body: optionalField(z.unknown()),
  header: optionalField(headersIn('Of the answer.')),
});

function answerIn(text: string): z.infer<typeof answerShape> | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Endpoints can write anything.
    return undefined;
  }
  return answerShape.safeParse(json).data;
}

const lowerCase = (headers: CallResponse['headers']): CallResponse['headers'] =>
  headers.map(([name, value]) => [name.toLowerCase(), value]);

/** The client writes a body that is not text as JSON. */
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

export interface LoadedCall extends Omit<KnownCall, 'callback'> {
  readonly resultId: string | undefined;
}

async function loadCall(
  view: RunView,
  history: MessageHistory,
  responses: ReadonlyMap<number, CallResponse>,
  stepId: number,
): Promise<LoadedCall> {
  const { message, attempts } = history;
  const last = attempts.find((attempt) => isFinal(attempt) && attempt.state !== 'CANCELED');
  const [resultId] = last === undefined ? [] : callbackIdsOf({ history, attempt: last });
  const own = view.with(message.redaction);
  const response =
    responses.get(stepId) ??
    (last && resultId !== undefined ? await responseOf(own, message.accountId, resultId, last) : undefined);
  return {
    url: shownUrl(message.url),
    method: message.method,
    body: own.hasTexts ? own.text(await loadBody(message.messageId, history.body)) : undefined,
    maxRetries: message.maxRetries,
    retryDelay: message.retryDelay,
    headers: own.headers(message.headers),
    response,
    resultId,
  };
}

/**
 * @param responses known answers, by step id
 * @returns by message id, without messages that are not stored yet or have expired
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

/** @returns by the message ids of the invokes, without expired runs */
export async function loadInvoked(
  view: RunView,
  accountId: string,
  records: readonly InvokeRecord[],
): Promise<ReadonlyMap<string, KnownInvoked>> {
  const invoked = new Map<string, KnownInvoked>();
  await eachOf(records, readAtOnce, async ({ messageId, runId, createdAt }) => {
    const key: RunKey = { accountId, runId };
    const listed = await loadListedRun({ ...key, createdAt });
    const row = listed && (await loadRow(key, listed.startSeq));
    if (row?.record.kind !== 'start' || !isKept(row.snapshot.keptUntil)) return;
    const { start, entry } = row.record;
    const own = view.with(start.settings.redaction);
    invoked.set(messageId, {
      body: own.hasTexts ? own.text(await loadBody(entry.messageId, entry.body)) : undefined,
      headers: own.forwarded(start.forwarded),
    });
  });
  return invoked;
}
