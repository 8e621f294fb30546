import { sendEnd } from '../job/openAttempt.ts';
import { loadMessage, recordOf } from '../message/history.ts';
import { changeOpen } from '../message/messages.ts';
import { now } from '../shared/clock.ts';
import type { Extended } from '../wire/pullAnswers.ts';
import { namedBy, notAwaited, tooLate } from './complete.ts';

/**
 * Gives an open attempt more time, or less, from now on.
 *
 * @param completion the token of the attempt
 * @throws HttpError 404, 409 or 410
 */
export async function extend(completion: string, withinMs: number): Promise<Extended> {
  const { named, ...key } = await namedBy(completion);
  const history = await loadMessage(key);
  const open = history?.open;
  const until = now() + withinMs;
  if (
    history === undefined ||
    history.end !== undefined ||
    recordOf(history, named?.number ?? 0) !== undefined
  )
    throw tooLate(key.messageId, 'the attempt has ended');
  if (open === undefined || open.number !== named?.number) throw notAwaited(key.messageId);
  const longer = { ...open, until, isOffered: false };
  await sendEnd(history.message, longer);
  if (!(await changeOpen(history.message, longer, 'open')))
    throw tooLate(key.messageId, 'the attempt has ended');
  return { messageId: key.messageId, completionDeadline: until };
}
