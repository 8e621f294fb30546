import { randomBytes } from 'node:crypto';
import { limitsOf, type Account } from '../account/account.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { HttpError, badRequest, quote } from '../error/httpError.ts';
import { attemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { extendBody } from '../message/bodies.ts';
import { type MessageHistory } from '../message/history.ts';
import { dueTimeOf, nextAttemptOf } from '../message/status.ts';
import { replaceMessage } from '../message/messages.ts';
import type { MessageChanges } from '../request/messageChange.ts';
import { clockMarginMs, now, secondMs } from '../shared/clock.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/answers.ts';
import { loadWaiting } from './messages.ts';
import { changed, isDeliverableBy } from './rules/changed.ts';

const conflict = (sentence: string): HttpError => new HttpError(409, 'attempt_due', sentence);

/**
 * Changes a message's settings before its next attempt.
 *
 * A job for the changed message is sent first, then the row is replaced if no other request changed it. Both have the change's
 * id. A worker drops a job with another change's id than the row's.
 *
 * @throws HttpError 400 for a message of a run, 404 for one that does not wait, 409 if its attempt is due, 503; nothing is
 *   changed
 */
export async function changeMessage(
  account: Account,
  messageId: string,
  changes: MessageChanges,
): Promise<Answer<typeof answers.changedMessage>> {
  const id = randomBytes(6).toString('hex');
  return retryOnConflict(
    `The message ${quote(messageId)} is being changed by many at once; send the change again.`,
    async () => {
      const history = await loadWaiting(account, messageId);
      const attempt = nextAttemptOf(history);
      // The first write succeeded, but its answer was lost.
      if (history.message.change?.id !== id) {
        refuseWhenDue(history, attempt);
        const due = { attempt, before: dueTimeOf(history, attempt) };
        const message = changed(history.message, due, { ...changes, id }, limitsOf(account));
        if (!isDeliverableBy(history, message)) throw otherQueue(messageId);
        const dueAt = dueTimeOf({ ...history, message }, attempt);
        await sendJob({ ...attemptJob(message, attempt), madeAt: now() }, dueAt);
        const isLonger = message.expiresAt > history.message.expiresAt;
        const stored = isLonger ? await extendBody(message, history.body, now()) : history.body;
        if (!(await replaceMessage(history.message, message, stored))) return undefined;
        return { messageId, nextDeliveryTime: dueAt };
      }
      return { messageId, nextDeliveryTime: dueTimeOf(history, attempt) };
    },
  );
}

function refuseWhenDue({ message, attempts, open }: MessageHistory, attempt: number): void {
  const { messageId, workflow, debounce } = message;
  if (debounce !== undefined && attempt === 0) {
    throw conflict(`The message ${quote(messageId)} is debounced; publish with its Svc-Debounce-Id instead.`);
  }
  if (workflow !== undefined) {
    throw badRequest(
      'message_of_run',
      `The message ${quote(messageId)} belongs to the run ${quote(workflow.runId)}, which decides its settings.`,
    );
  }
  if (open !== undefined)
    throw conflict(
      `The message ${quote(messageId)} waits for the completion of an attempt; publish it again.`,
    );
  const dueAt = dueTimeOf({ message, attempts }, attempt);
  if (dueAt - now() >= clockMarginMs) return;
  throw conflict(
    `The message ${quote(messageId)} is due at ${new Date(dueAt).toISOString()}; it can be changed until ${clockMarginMs / secondMs} seconds before that.`,
  );
}

const otherQueue = (messageId: string): HttpError =>
  conflict(
    `The timeout of the message ${quote(messageId)} can no longer go from 30 seconds or less to more, or back: it has its turn in a queue.`,
  );
