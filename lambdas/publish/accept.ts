import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { HttpError } from '../error/httpError.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { now } from '../shared/clock.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import type { Message } from '../message/message.ts';
import { storeBody, type StoredBody } from '../message/bodies.ts';
import { endMessage, putMessage, putMessages } from '../message/messages.ts';
import { log } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import type { Account } from '../account/account.ts';
import { ensureKeys } from '../lane/ensureKeys.ts';
import { ensureQueue } from '../lane/queues.ts';
import { withCharges } from '../usage/charge.ts';
import { joinQueue, joinQueues, joinsAtOnce } from '../lane/joinQueues.ts';
import { attemptJob } from '../job/job.ts';
import { sendEach, sendJob } from '../job/send.ts';
import type { Deduplicated } from './repeated/deduplicate.ts';
import type { Draft, Prepared } from './prepare.ts';

/**
 * Accepts a message. When this returns true, its row and its first attempt are stored, and it will be delivered or end in
 * the dead letter queue. Both are written side by side; a worker that has the attempt and finds no row reads again. Only a
 * message of a queue is written before it joins the queue's line; and a flow-control key that is new is made before all.
 *
 * @returns false when one of them could not be stored. Nothing half-done is left: a worker drops an attempt without a row,
 * and a row without an attempt is ended here.
 * @throws when it could not be ended either: then it may be delivered or not
 */
export async function accept({ message, body }: Draft): Promise<boolean> {
  let stored: StoredBody;
  try {
    await ensureKeys(message);
    stored = await storeBody(message, body, now());
  } catch (error) {
    logRejection(message, error);
    return false;
  }
  const writes = joinsAtOnce(message)
    ? await inTurn([() => putMessage(message, stored), () => joinQueue(message)])
    : await Promise.allSettled([
        putMessage(message, stored),
        sendJob(attemptJob(message, 0), message.notBefore),
      ]);
  const failed = writes.find((write) => write.status === 'rejected');
  if (failed === undefined) {
    count('Accepted');
    return true;
  }
  // A write that failed may have been made, with its answer lost on the way: the end's row stops the worker then.
  await endMessage(message, 'REJECTED', now());
  logRejection(message, failed.reason);
  return false;
}

/** Makes writes one after the other, up to the first that fails: a message is in its queue's line only if its row is there. */
async function inTurn(
  writes: readonly (() => Promise<void>)[],
): Promise<readonly PromiseSettledResult<void>[]> {
  const settled: PromiseSettledResult<void>[] = [];
  for (const write of writes) {
    const [outcome] = await Promise.allSettled([write()]);
    settled.push(outcome);
    if (outcome.status === 'rejected') break;
  }
  return settled;
}

function logRejection({ messageId }: Message, reason: unknown): void {
  log.error('A message could not be stored and was not accepted', {
    messageId,
    error: reason instanceof Error ? reason : String(reason),
  });
}

/** Bodies, lists of rows, and ends that are written at once. */
const atOnce = 20;
/** Rows that are written in one call, and fail together: DynamoDB takes 25. */
const rowsTogether = 25;

/**
 * Accepts many messages with few calls: flow-control keys that are new and bodies, then their rows, 25 at a time, then their first attempts, 10 at a time.
 *
 * @returns the messages that were not accepted, each with the reason. The caller takes them back, or accepts them again
 * under the same ids, because a write that failed may have been made all the same.
 */
export async function acceptEach(drafts: readonly Draft[]): Promise<ReadonlyMap<Message, unknown>> {
  const failures = new Map<Message, unknown>();
  const withBodies: { readonly message: Message; readonly stored: StoredBody }[] = [];
  await eachOf(drafts, atOnce, async ({ message, body }) => {
    try {
      await ensureKeys(message);
      withBodies.push({ message, stored: await storeBody(message, body, now()) });
    } catch (error) {
      failures.set(message, error);
    }
  });

  await eachOf(chunksOf(withBodies, rowsTogether), atOnce, async (chunk) => {
    try {
      await putMessages(chunk);
    } catch (error) {
      for (const { message } of chunk) failures.set(message, error);
    }
  });

  const written = withBodies.map(({ message }) => message).filter((message) => !failures.has(message));
  // Asked once: a message may become due between two readings of the clock.
  const joining = new Set(written.filter(joinsAtOnce));
  const [unsent, unjoined] = await Promise.all([
    sendEach(
      written.filter((message) => !joining.has(message)),
      (message) => ({ job: attemptJob(message, 0), dueAt: message.notBefore }),
    ),
    joinQueues([...joining]),
  ]);
  for (const [message, error] of [...unsent, ...unjoined]) failures.set(message, error);

  for (const [message, error] of failures) logRejection(message, error);
  count('Accepted', drafts.length - failures.size);
  return failures;
}

/** Ends messages that could not be accepted, or that were accepted while others of their request could not be. */
export async function takeBack(drafts: readonly Draft[]): Promise<void> {
  await eachOf(drafts, atOnce, async ({ message }) => {
    await endMessage(message, 'REJECTED', now());
  });
}

/**
 * Charges the messages of one request, and accepts all of them or none.
 *
 * @param queueName the queue that they go through, if any
 * @throws HttpError 412, 429 or 503; none is accepted then
 */
export const acceptAll = (account: Account, drafts: readonly Draft[], queueName?: string): Promise<void> =>
  withCharges(account, drafts.length, async ({ charge }) => {
    const refusal = charge(drafts.length);
    if (refusal !== undefined) throw refusal;
    await ensureQueue(account, queueName);
    const failures = await acceptEach(drafts);
    if (failures.size === 0) return;
    await takeBack(drafts);
    throw notStored();
  });

export interface PublishAnswer {
  /** 200, or 202 where all messages were published before. */
  readonly status: number;
  /** A list where the destination is a URL group. */
  readonly body: Answer<typeof answers.publishAnswer>;
}

/** The answer to a request whose messages are stored, or were before. */
export function answerOf(
  { drafts, isGroup }: Prepared,
  deduplicated: readonly Deduplicated[],
): PublishAnswer {
  const published = deduplicated.map(({ messageId, isDuplicate, isDebounced }) => ({
    messageId,
    ...(isDuplicate && { deduplicated: true as const }),
    ...(isDebounced === true && { debounced: true as const }),
  }));
  const [first] = published;
  const status = deduplicated.every(({ isDuplicate }) => isDuplicate) ? 202 : 200;
  if (!isGroup && first !== undefined) return { status, body: first };
  return {
    status,
    body: published.map((one, index) => ({ ...one, url: shownUrl(drafts[index]?.message.url ?? '') })),
  };
}

export const notStored = (): HttpError =>
  new HttpError(503, 'not_stored', 'The message could not be stored, and was not accepted; send it again.');
