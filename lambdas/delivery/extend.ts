import { sendEnd } from '../job/openAttempt.ts';
import { loadMessage } from '../message/history.ts';
import { changeOpen } from '../message/messages.ts';
import { now } from '../shared/clock.ts';
import type { Extended } from '../wire/pullAnswers.ts';
import { namedBy, tooLate } from './complete.ts';

/**
 * Gives an open attempt more time, or less, from now on.
 *
 * @param completion the token of the attempt
 * @throws HttpError 404 or 410
 */
export async function extend(completion: string, withinMs: number): Promise<Extended> {
  const { named, ...key } = await namedBy(completion);
  const history = await loadMessage(key);
  const open = history?.open;
  const until = now() + withinMs;
  if (
    history === undefined ||
    history.end !== undefined ||
    open === undefined ||
    open.number !== named?.number
  ) {
    throw tooLate(key.messageId, 'the attempt has ended');
  }
  const longer = { ...open, until, isOffered: false };
  await sendEnd(history.message, longer);
  if (!(await changeOpen(history.message, longer, 'open')))
    throw tooLate(key.messageId, 'the attempt has ended');
  return { messageId: key.messageId, completionDeadline: until };
}
