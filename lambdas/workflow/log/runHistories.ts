/** The courses of a run's messages, as its log shows them. */
import { STATUS_CODES } from 'node:http';
import { chunksOf } from '../../shared/lists.ts';
import { isFinal, type Attempt, type KeptResponse } from '../../message/message.ts';
import type { RunFailure } from '../rules/journal.ts';
import type { FailedAttempt } from './rules/errors.ts';
import type { Course } from './rules/runRecord.ts';
import { loadRunHistories, type RecordedHistory } from '../../message/runHistories.ts';
import type { RunView } from './runView.ts';

/** Messages whose attempts are in memory at once: each may have kept 100 KB of an answer. */
const messagesAtOnce = 250;

const sentenceOf = ({ status, error }: KeptResponse): string =>
  error ?? [status, STATUS_CODES[status]].join(' ').trim();

function failureOf(look: RunView, response: KeptResponse, time: number): FailedAttempt {
  return {
    status: response.status,
    error: sentenceOf(response),
    headers: look.headers(response.headers),
    body: look.text(response.body) ?? '',
    time,
  };
}

/** The course that attempts and an end make. */
export function courseOf(look: RunView, { attempts, end }: RecordedHistory): Course {
  const last = attempts.at(-1);
  const ended = attempts.find(isFinal)?.state;
  const withdrawn = end === undefined ? undefined : 'CANCELED';
  return {
    failures: attempts
      .filter(({ state }) => state !== 'DELIVERED')
      .map(({ response, recordedAt }) => failureOf(look, response, recordedAt)),
    end: ended === undefined || ended === 'RETRY' ? withdrawn : ended,
    nextDeliveryAt: last?.nextDeliveryAt,
  };
}

/**
 * Puts the failure with which a run ended into the attempts of its message. The record of the run's end says best why: the
 * attempt itself may have been a success, by an endpoint that is none.
 */
function withFailure(
  course: RecordedHistory,
  { attempt, response }: RunFailure,
  at: number,
): RecordedHistory {
  const before = course.attempts.filter(({ number }) => number < attempt);
  const found = course.attempts.find(({ number }) => number === attempt);
  const last: Attempt = {
    number: attempt,
    startedAt: found?.startedAt ?? at,
    recordedAt: found?.recordedAt ?? at,
    state: 'FAILED',
    response,
  };
  return { ...course, attempts: [...before, last] };
}

/**
 * Reads the courses of messages.
 *
 * @param messageIds each once
 * @param failure that of the run, and when it was recorded; Unix milliseconds
 */
export async function loadShownCourses(
  look: RunView,
  accountId: string,
  messageIds: readonly string[],
  failure: { readonly of: RunFailure; readonly at: number } | undefined,
): Promise<ReadonlyMap<string, Course>> {
  const shown = new Map<string, Course>();
  for (const some of chunksOf(messageIds, messagesAtOnce)) {
    const courses = await loadRunHistories(accountId, some);
    for (const messageId of some) {
      const found = courses.get(messageId);
      const course =
        failure?.of.messageId === messageId
          ? withFailure(found ?? { attempts: [], end: undefined }, failure.of, failure.at)
          : found;
      if (course !== undefined) shown.set(messageId, courseOf(look, course));
    }
  }
  return shown;
}
