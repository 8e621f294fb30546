/**
 * Messages whose destination is a name: their attempts are offered, and clients take them.
 *
 * An offered attempt is open like one that was answered with 202, and keeps its slots. A client that takes it gets the request
 * that would have been made, and completes it as a destination does later (`complete.ts`). A conditional write decides which of
 * several clients gets it. If the client or this process dies, the attempt fails when its time is over, and is retried.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../account/account.ts';
import { completionToken } from '../account/completionToken.ts';
import { log } from '../aws/log.ts';
import { sendEnd } from '../job/openAttempt.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { changeOpen } from '../message/messages.ts';
import { bodyRecord, requestRecord } from '../message/records.ts';
import { now } from '../shared/clock.ts';
import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import type { Pulled } from '../wire/pullAnswers.ts';
import { requestOf } from './callDestination.ts';
import { FreeOffers } from './store/freeOffers.ts';
import { removeOffer, type Offer } from './store/offers.ts';

interface Taking {
  readonly name: string;
  /** Messages at most. */
  readonly count: number;
  /** How long to wait for the first one, in milliseconds. */
  readonly waitMs: number;
  /** The client's time to complete each, in milliseconds. */
  readonly withinMs: number;
}

type Taken = Pulled['messages'][number];

/** For headers and the other fields of a message. */
const headBytes = 30_000;

const sizeOf = (body: Uint8Array): number => jsonBytes(bodyRecord(body));

/** Without messages, the offers are read again after this time (ms). */
const lookEveryMs = 500;

/** Held offers are read again after twice the time each time, and after this time at most (ms). */
const longestPauseMs = 5_000;

/** Messages that are read and taken at once. */
const atOnce = 10;

/** Takes messages, those that were offered first. It may take fewer than there are, but waits only while there is none. */
export async function takeAll(account: Account, { waitMs, ...taking }: Taking): Promise<Pulled> {
  // The system's clock may step.
  const until = performance.now() + waitMs;
  for (let pauseMs = lookEveryMs; ;) {
    const offers = new FreeOffers(account, taking.name);
    const messages = await takeNow(account, offers, taking);
    const leftMs = until - performance.now();
    if (messages.length > 0 || leftMs <= 0) return { messages };
    await sleep(Math.min(pauseMs, leftMs));
    pauseMs = offers.foundHeld ? Math.min(2 * pauseMs, longestPauseMs) : lookEveryMs;
  }
}

async function takeNow(
  account: Account,
  offers: FreeOffers,
  { count, withinMs }: Pick<Taking, 'count' | 'withinMs'>,
): Promise<readonly Taken[]> {
  const messages: Taken[] = [];
  let bytes = 0;
  for (;;) {
    const some = await offers.next(Math.min(atOnce, count - messages.length));
    const read = await Promise.all(some.map(readOffer));
    const fitting = read
      .flatMap((one) => one ?? [])
      .filter(({ body }) => {
        // The first one fits: an account's largest message fits into an answer.
        const isFirst = bytes === 0;
        bytes += sizeOf(body) + headBytes;
        return isFirst || bytes <= largestAnswer;
      });
    const taken = await Promise.allSettled(fitting.map((one) => takeOne(account, one, withinMs)));
    messages.push(...taken.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : [])));
    const failed = taken.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      // The client gets what is its own already.
      if (messages.length === 0) throw failed.reason;
      log.warn('A message could not be given to a client; its attempt is retried', {
        error: String(failed.reason),
      });
    }
    const isFull = messages.length >= count || bytes > largestAnswer;
    if (some.length === 0 || failed !== undefined || isFull) return messages;
  }
}

interface Offered {
  readonly offered: Offer;
  readonly message: MessageHistory['message'];
  readonly open: NonNullable<MessageHistory['open']>;
  readonly body: Uint8Array;
}

/** @returns undefined if it cannot be taken now */
async function readOffer(offered: Offer): Promise<Offered | undefined> {
  const history = await loadMessage(offered);
  const open = history?.open;
  const isOver = history?.end !== undefined || open?.number !== offered.attempt || open.isOffered !== true;
  if (history === undefined || open === undefined || isOver) {
    await removeOffer(offered);
    return undefined;
  }
  const { message } = history;
  return { offered, message, open, body: await loadBody(message.messageId, history.body) };
}

/** @returns undefined if another client was first */
async function takeOne(
  account: Account,
  { offered, message, open: { number }, body }: Offered,
  withinMs: number,
): Promise<Taken | undefined> {
  const { accountId, messageId } = message;
  const startedAt = now();
  const mine = { number, startedAt, until: startedAt + withinMs, isOffered: false };
  // Its end must be certain before a client works on it.
  await sendEnd(message, mine);
  if (!(await changeOpen(message, mine, 'offered'))) return undefined;
  await removeOffer(offered);
  return {
    messageId,
    retried: number,
    ...requestRecord(await requestOf(message, number, account, body)),
    completion: await completionToken({ accountId, messageId, attempt: number, startedAt }),
    completionDeadline: mine.until,
  };
}
