import { randomBytes } from 'node:crypto';
import { limitsOf, type Account } from '../account/account.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { attemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { waitsInLine } from '../lane/heldBack.ts';
import { extendBody } from '../message/bodies.ts';
import { dueTimeOf, nextAttemptOf } from '../message/status.ts';
import { replaceMessage } from '../message/messages.ts';
import type { MessageChanges } from '../request/messageChange.ts';
import { clockMarginMs, now } from '../shared/clock.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/answers.ts';
import { loadWaiting } from './messages.ts';
import {
  changed,
  isDeliverableBy,
  manyChanges,
  otherQueue,
  refuseUnchangeable,
  tooLate,
} from './rules/changed.ts';

/**
 * Changes a message's settings before its next attempt.
 *
 * A job for the changed message is sent first, and then the row is replaced if no other request changed it.
 * Both have the id of the change. A worker drops a job whose change is not the row's.
 *
 * A message in a lane's line keeps its place, and gets a job only if it is moved to a later time. After the
 * write the line is read again: if the message has left it, its attempt may have begun with the earlier
 * settings, so the change is undone.
 *
 * @throws HttpError 400 for a message of a run, 404 for one that does not wait, 409 if its attempt begins,
 * 503
 */
export async function changeMessage(
  account: Account,
  messageId: string,
  changes: MessageChanges,
): Promise<Answer<typeof answers.changedMessage>> {
  const tried = new Set<string>();
  return retryOnConflict(manyChanges(messageId), async () => {
    // Each try sends a job. Only the job of the last try may make the attempt.
    const id = randomBytes(6).toString('hex');
    const history = await loadWaiting(account, messageId);
    const attempt = nextAttemptOf(history);
    const answer = { messageId, nextDeliveryTime: dueTimeOf(history, attempt) };
    // An earlier try has written the row, but its answer was lost.
    if (tried.has(history.message.change?.id ?? '')) return answer;
    tried.add(id);
    refuseUnchangeable(history, attempt);
    const isInLine = answer.nextDeliveryTime - now() < clockMarginMs;
    const waits = (): Promise<boolean> => waitsInLine(history.message, account, attempt);
    if (isInLine && !(await waits())) throw tooLate(answer);
    const due = { attempt, before: answer.nextDeliveryTime };
    const message = changed(history.message, due, { ...changes, id }, limitsOf(account));
    if (!isDeliverableBy(history, message, isInLine)) throw otherQueue(messageId);
    const dueAt = dueTimeOf({ ...history, message }, attempt);
    if (!isInLine || dueAt > now()) await sendJob({ ...attemptJob(message, attempt), madeAt: now() }, dueAt);
    const isLonger = message.expiresAt > history.message.expiresAt;
    const stored = isLonger ? await extendBody(message, history.body, now()) : history.body;
    if (!(await replaceMessage(history.message, message, stored))) return undefined;
    if (isInLine && !(await waits())) {
      await replaceMessage(message, history.message, stored);
      throw tooLate(answer);
    }
    return { messageId, nextDeliveryTime: dueAt };
  });
}
