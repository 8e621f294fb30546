/** `Svc-Debounce`: messages with one id become one message, which is delivered after a quiet period. */
import { limitsOf, type Account } from '../../account/account.ts';
import { joinPeriod, periodKey } from '../../debounce/joinPeriod.ts';
import { count } from '../../aws/metrics.ts';
import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';
import { ensureQueue } from '../../lane/queues.ts';
import { storeBody } from '../../message/bodies.ts';
import { expiryOf } from '../../message/message.ts';
import { putVersion } from '../../message/messages.ts';
import type { Debounce } from '../../options/deduplication.ts';
import { now } from '../../shared/clock.ts';
import { withCharges } from '../../usage/charge.ts';
import { answerOf, type PublishAnswer } from '../accept.ts';
import type { Draft, Prepared } from '../prepare.ts';

/**
 * Adds each message to the quiet period of its id. The newest body and settings count.
 *
 * @throws HttpError 412, 429 or 503; a message may have been debounced with this body, and can be published
 * again
 */
export async function publishDebounced(
  account: Account,
  prepared: Prepared,
  debounce: Debounce,
): Promise<PublishAnswer> {
  const { drafts, queueName, isGroup } = prepared;
  const joined = await withCharges(account, drafts.length, async ({ charge }) => {
    const refusal = charge(drafts.length);
    if (refusal !== undefined) throw refusal;
    await ensureQueue(account, queueName);
    return Promise.all(drafts.map((draft) => debounceOne(account, draft, debounce, isGroup)));
  });
  return answerOf(
    prepared,
    joined.map((messageId, index) => ({
      draft: drafts[index],
      messageId,
      isDuplicate: false,
      isDebounced: true,
    })),
  );
}

/** @returns the id of the period's message */
async function debounceOne(
  account: Account,
  { message, body }: Draft,
  { id, quietMs, mostMs }: Debounce,
  isGroup: boolean,
): Promise<string> {
  await ensureKeys(message);
  const key = periodKey(account.id, id, isGroup ? (message.endpointName ?? message.url) : undefined);
  const { messageId, version, dueAt, firstDueAt, isFirst } = await joinPeriod({
    ...{ key, quietMs, mostMs, messageId: message.messageId },
    // The worker reads a missing row again until its publisher must have finished.
    onBegin: (beginsAt) => sendJob({ ...attemptJob(message, 0), madeAt: beginsAt }, beginsAt),
  });
  const timed = { ...message, messageId, notBefore: dueAt, debounce: { key, version, firstDueAt } };
  const versioned = { ...timed, expiresAt: expiryOf(timed, limitsOf(account)) };
  // Two publishes may write their bodies at the same time.
  const bodyId = `${messageId}~${version}`;
  const stored = await storeBody({ ...versioned, messageId: bodyId }, body, now());
  await putVersion(versioned, stored.at === 'row' ? { ...stored, id: bodyId } : stored);
  if (isFirst) count('Accepted');
  return messageId;
}
