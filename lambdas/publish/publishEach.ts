/** Publishes messages that were delivered again, for a bulk operation in the background. */
import type { Account } from '../account/account.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { HttpError } from '../error/httpError.ts';
import { TransientError } from '../error/transientError.ts';
import { attemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { joinQueue, joinsAtOnce } from '../lane/joinQueues.ts';
import { ensureQueues } from '../lane/queues.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { noteRetry } from '../message/messages.ts';
import { eachOf } from '../shared/lists.ts';
import { withCharges } from '../usage/charge.ts';
import { acceptEach } from './accept.ts';
import { drafting } from './again.ts';
import type { RetryRequest } from './retryDeadLetters.ts';

/** How many messages are in memory at once, each with a body of up to 4 MB. */
const atOnce = 10;

/**
 * Publishes messages again. The new ids are derived from the old ones, so that a repetition makes the same
 * messages.
 *
 * @returns those that were published, now or before; the others; and the refusal if a limit was reached
 * @throws TransientError or errors of AWS; it must then be repeated
 */
export async function publishEach(
  account: Account,
  messageIds: readonly string[],
  request: RetryRequest,
  newIdOf: (messageId: string) => string,
) {
  const draftAgain = await drafting(account, request);
  const published = new Set<string>();
  let refusal: HttpError | undefined;
  let failure: unknown;
  await withCharges(account, messageIds.length, ({ charge, giveBack }) =>
    eachOf(messageIds, atOnce, async (messageId) => {
      const key = { accountId: account.id, messageId: newIdOf(messageId) };
      const earlier = await loadMessage(key);
      if (earlier === undefined) {
        const draft = await draftAgain(messageId, key.messageId).catch(ofEntry);
        if (draft === undefined || refusal !== undefined) return;
        const queues = [draft.message.queueName ?? []].flat();
        const [refused = charge(1)] = (await ensureQueues(account, queues)).values();
        if (refused !== undefined) {
          refusal = refused;
          return;
        }
        const [failed] = (await acceptEach([draft])).values();
        if (failed !== undefined) {
          giveBack(1);
          failure = failed;
          return;
        }
      } else await sendAgain(earlier);
      await logAndContinue(noteRetry({ ...key, messageId }, key.messageId));
      published.add(messageId);
    }),
  );
  if (failure !== undefined) throw new TransientError('Not all could be stored.', { cause: failure });
  return { responses: [...published], left: messageIds.filter((id) => !published.has(id)), refusal };
}

function ofEntry(error: unknown): undefined {
  if (!(error instanceof HttpError) || error.status >= 500) throw error;
}

/** An earlier try may have died after it wrote the message and before it sent the job. */
async function sendAgain({ message, attempts, end }: MessageHistory): Promise<void> {
  if (end !== undefined || attempts.length > 0) return;
  if (joinsAtOnce(message)) await joinQueue(message);
  else await sendJob(attemptJob(message, 0), message.notBefore);
}
