import { listedResponseBytes } from '../message/records.ts';
import { limitsOf } from '../account/account.ts';
import { beginningOf } from '../shared/bytes.ts';
import { count } from '../aws/metrics.ts';
import { putDeadLetter, type DeadRun } from './rows.ts';
import { keepToSize } from './size.ts';
import { dlqIdOf } from '../message/consequenceIds.ts';
import type { RecordedAttempt } from '../message/history.ts';

/** @param run the failed run, and until when its records are kept */
export async function deadLetterAttempt(
  { history, attempt, account }: RecordedAttempt,
  run?: { readonly workflow: DeadRun; readonly keptUntil: number },
): Promise<void> {
  const { message } = history;
  const { max_dlq_retention_time_milis: retentionMs, max_dlq_size: size } = limitsOf(account);
  const responseBody = beginningOf(attempt.response.body, listedResponseBytes);
  // A dead letter shows bodies that are stored with the message and the run, so it must expire before them.
  const neededUntil = Math.min(message.expiresAt, run?.keptUntil ?? Infinity);
  const expiresAt = Math.min(attempt.recordedAt + retentionMs, neededUntil);
  const isNew = await putDeadLetter({
    dlqId: dlqIdOf(history, attempt.number),
    message,
    workflow: run?.workflow,
    retried: attempt.number,
    failedAt: attempt.recordedAt,
    responseStatus: attempt.response.status,
    responseHeaders: attempt.response.headers,
    responseBody: responseBody.length === 0 ? undefined : responseBody,
    error: attempt.response.error,
    expiresAt,
  });
  if (!isNew) return;
  count('DeadLettered');
  await keepToSize(account, expiresAt, size);
}
