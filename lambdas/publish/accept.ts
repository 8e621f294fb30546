import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { HttpError } from '../error/httpError.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { now } from '../shared/clock.ts';
import { chunksOf, eachOf } from '../shared/lists.ts';
import type { Message } from '../message/message.ts';
import { storeBody } from '../message/bodies.ts';
import type { StoredBody } from '../message/message.ts';
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
 * Accepts a message: stores its row and sends its first attempt at the same time. A message of a queue joins
 * its line only after its row is written.
 *
 * @returns false if a write failed. If only the attempt was sent, its worker drops it. If only the row was
 * written, the message is ended here
 * @throws if ending it failed too: the message may or may not be delivered
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
  // The row may exist although its write failed. This row keeps a worker from delivering the message.
  await endMessage(message, 'REJECTED', now());
  logRejection(message, failed.reason);
  return false;
}

/** Writes one after another until one fails. A message may be in a line only if its row exists. */
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
  log.error('A message was not accepted, because it could not be stored', {
    messageId,
    error: reason instanceof Error ? reason : String(reason),
  });
}

interface Stored {
  readonly message: Message;
  readonly stored: StoredBody;
}

/** The most bodies, lists of rows, and ends to write at once. */
const atOnce = 20;
/** DynamoDB's limit for one call. If the call fails, all these rows fail. */
const rowsTogether = 25;
/**
 * Messages whose rows and first attempts are written together. A multiple of the limits of DynamoDB and SQS
 * for one call.
 */
const acceptedTogether = 100;
const acceptsAtOnce = 4;

/**
 * Accepts many messages with few calls: first flow-control keys and bodies, then rows (25 at a time) and
 * first attempts (10 at a time) in parallel. Messages of a queue join its line only after their rows are
 * written.
 *
 * @returns the messages that were not accepted, with reasons. The caller ends them, or accepts them again
 * under the same ids, because a failed write may have succeeded
 */
export async function acceptEach(drafts: readonly Draft[]): Promise<ReadonlyMap<Message, unknown>> {
  const failures = new Map<Message, unknown>();
  const withBodies: Stored[] = [];
  await eachOf(drafts, atOnce, async ({ message, body }) => {
    try {
      await ensureKeys(message);
      withBodies.push({ message, stored: await storeBody(message, body, now()) });
    } catch (error) {
      failures.set(message, error);
    }
  });

  const failAll = (failed: Iterable<readonly [Message, unknown]>): void => {
    for (const [message, error] of failed) failures.set(message, error);
  };
  const putRows = (some: readonly Stored[]): Promise<void> =>
    eachOf(chunksOf(some, rowsTogether), atOnce, (rows) =>
      putMessages(rows).catch((error: unknown) => {
        failAll(rows.map(({ message }) => [message, error]));
      }),
    );

  // Decided once, because a message may become due in between.
  const joining = new Set(withBodies.filter(({ message }) => joinsAtOnce(message)));
  const sent = withBodies.filter((one) => !joining.has(one));
  await eachOf(chunksOf(sent, acceptedTogether), acceptsAtOnce, async (some) => {
    const messages = some.map(({ message }) => message);
    const [unsent] = await Promise.all([
      sendEach(messages, (message) => ({ job: attemptJob(message, 0), dueAt: message.notBefore })),
      putRows(some),
    ]);
    failAll(unsent);
  });
  await putRows([...joining]);
  const written = [...joining].map(({ message }) => message).filter((message) => !failures.has(message));
  failAll(await joinQueues(written));

  for (const [message, error] of failures) logRejection(message, error);
  count('Accepted', drafts.length - failures.size);
  return failures;
}

export async function takeBack(drafts: readonly Draft[]): Promise<void> {
  await eachOf(drafts, atOnce, async ({ message }) => {
    await endMessage(message, 'REJECTED', now());
  });
}

/**
 * Accepts all messages of a request or none.
 *
 * @throws HttpError 412, 429 or 503
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
  /** 200, or 202 if all messages are duplicates. */
  readonly status: number;
  /** A list if the destination is a URL group. */
  readonly body: Answer<typeof answers.publishAnswer>;
}

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
