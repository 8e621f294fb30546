import { STATUS_CODES } from 'node:http';
import * as z from 'zod/mini';
import { shownHeaders } from '../../shared/headers.ts';
import { chunksOf } from '../../shared/lists.ts';
import { isFinal, type Attempt, type KeptResponse } from '../../message/message.ts';
import type { EndRecord, JournalRecord, RunFailure } from '../rules/journal.ts';
import type { FailedAttempt, History, RunMessage } from './rules/runMessage.ts';
import { loadRunHistories, type RecordedHistory } from '../../message/runHistories.ts';
import { jsonIn } from '../rules/step.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import type { Refusal } from '../store/lastRefusals.ts';
import type { RunView } from './runView.ts';

const messagesAtOnce = 250;

const sentenceOf = ({ status, error }: KeptResponse): string =>
  error ?? [status, STATUS_CODES[status]].join(' ').trim();

function failureOf(view: RunView, response: KeptResponse, time: number): FailedAttempt {
  // Texts that are loaded last are left out first, so the order matters.
  const headers = shownHeaders(view.headers(response.headers));
  const body = view.text(response.body) ?? '';
  return {
    error: sentenceOf(response),
    body,
    headers,
    status: response.status,
    time,
  };
}

export function historyOf(view: RunView, messageId: string, { attempts, end }: RecordedHistory): History {
  const last = attempts.at(-1);
  const ended = attempts.find(isFinal)?.state;
  const withdrawn = end === undefined ? undefined : 'CANCELED';
  return {
    failures: attempts
      .filter(({ state }) => state !== 'DELIVERED')
      .map(({ response, recordedAt }) => failureOf(view, response, recordedAt)),
    requests: attempts.map(({ number, startedAt, recordedAt, state, response }) => ({
      messageId,
      retried: number,
      startedAt,
      endedAt: recordedAt,
      status: response.status,
      error: state === 'DELIVERED' ? undefined : sentenceOf(response),
    })),
    end: ended === undefined || ended === 'RETRY' ? withdrawn : ended,
    nextDeliveryAt: last?.nextDeliveryAt,
  };
}

/**
 * Adds the failure that ended the run to the attempts of its message. If the destination is not a workflow
 * endpoint, only the run's end has the reason.
 */
function withFailure(
  history: RecordedHistory,
  { attempt, response }: RunFailure,
  at: number,
): RecordedHistory {
  const before = history.attempts.filter(({ number }) => number < attempt);
  const found = history.attempts.find(({ number }) => number === attempt);
  const last: Attempt = {
    number: attempt,
    startedAt: found?.startedAt ?? at,
    recordedAt: found?.recordedAt ?? at,
    state: 'FAILED',
    response,
  };
  return { ...history, attempts: [...before, last] };
}

/**
 * @param messageIds no id twice
 * @param failure the run's failure, and when it was recorded
 */
export async function loadShownHistories(
  view: RunView,
  accountId: string,
  messageIds: readonly string[],
  failure: { readonly of: RunFailure; readonly at: number } | undefined,
): Promise<ReadonlyMap<string, History>> {
  const shown = new Map<string, History>();
  for (const some of chunksOf(messageIds, messagesAtOnce)) {
    const histories = await loadRunHistories(accountId, some);
    for (const messageId of some) {
      const found = histories.get(messageId);
      const history =
        failure?.of.messageId === messageId
          ? withFailure(found ?? { attempts: [], end: undefined }, failure.of, failure.at)
          : found;
      if (history !== undefined) shown.set(messageId, historyOf(view, messageId, history));
    }
  }
  return shown;
}

export function otherFailure(
  view: RunView,
  records: readonly JournalRecord[],
  messages: readonly RunMessage[],
  end: EndRecord | undefined,
): FailedAttempt | undefined {
  if (end?.failure === undefined) return undefined;
  const { messageId, response } = end.failure;
  const isKnown =
    messages.some(
      ({ step, callback }) => step.messageId === messageId || callback?.messageId === messageId,
    ) || records.some((record) => record.kind === 'upgrade' && record.messageId === messageId);
  return isKnown ? undefined : failureOf(view, response, end.at);
}

const refusedAnswer = z.object({ error: z.string(), message: z.string() });

/** Reads the refusal that ended a run. @param failure from {@link otherFailure} */
export function refusalIn(
  end: EndRecord | undefined,
  failure: FailedAttempt | undefined,
): Refusal | undefined {
  if (end?.failure === undefined || failure?.status !== refusedSubmission('').status) return undefined;
  const read = refusedAnswer.safeParse(jsonIn(Buffer.from(end.failure.response.body).toString('utf8')));
  return read.data && { code: read.data.error, message: read.data.message, at: end.at };
}
