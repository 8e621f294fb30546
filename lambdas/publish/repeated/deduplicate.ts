import { setTimeout } from 'node:timers/promises';
import { isRecent, now, secondMs } from '../../shared/clock.ts';
import { HttpError } from '../../error/httpError.ts';
import { deduplicationKey, deduplicationWindowMs } from '../rules/deduplicationKey.ts';
import type { Deduplication } from '../../options/deduplication.ts';
import { claimAfter, claimKey, markAccepted, releaseKey, takeOver } from '../store/deduplication.ts';
import { log } from '../../aws/log.ts';
import { endedUndelivered } from '../../message/history.ts';
import type { Draft } from '../prepare.ts';

export interface Deduplicated {
  /** The message to accept under this id; undefined if another publisher's message was accepted. */
  readonly draft: Draft | undefined;
  readonly messageId: string;
  readonly isDuplicate: boolean;
  readonly isDebounced?: boolean;
  readonly key?: string | undefined;
  /** A 503 if other publishers of this message did not finish in time. */
  readonly error?: HttpError;
}

/** A publisher has died if its message is not accepted this long after it claimed the key. */
const claimTimeoutMs = 2_000;
/**
 * How long a request waits for other publishers, which may have died. An API function is ended after 28 s,
 * and must have time to accept its own messages.
 */
const longestWaitMs = 10_000;
/** The pause before a key is read again doubles, up to this. */
const longestPauseMs = 1_280;

/**
 * Claims a message's key, to find out whether the message is new. If the first publisher dies after its
 * claim, one that waits accepts the message under the same id. If a message was cancelled or failed
 * permanently, the next one gets its key. So a duplicate always has a message that will be delivered.
 *
 * @param waitUntil Unix milliseconds
 */
async function claim(draft: Draft, key: string, waitUntil: number): Promise<Deduplicated> {
  const { messageId, accountId } = draft.message;
  for (let pauseMs = 20; ;) {
    const time = now();
    const own = { key, messageId, now: time, until: time + deduplicationWindowMs };
    const first = await claimKey(own);
    const duplicate = { messageId: first.messageId, isDuplicate: true };
    if (first.messageId === messageId) return { draft, messageId, isDuplicate: false, key };
    if (first.isAccepted) {
      if (!(await endedUndelivered({ accountId, messageId: first.messageId })))
        return { draft: undefined, ...duplicate };
      if (await claimAfter(own, first.messageId)) return { draft, messageId, isDuplicate: false, key };
    } else if (!isRecent(first.claimedAt, claimTimeoutMs, time)) {
      const claimed = { key, messageId: first.messageId, now: now(), endedBy: time - claimTimeoutMs };
      if (await takeOver(claimed)) {
        const inItsPlace = { ...draft, message: { ...draft.message, messageId: first.messageId } };
        return { draft: inItsPlace, ...duplicate, key };
      }
      // Another publisher claimed the key first. The next read shows the outcome.
    } else if (time >= waitUntil) {
      return { draft: undefined, ...duplicate, error: heldUp() };
    }
    await setTimeout(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

const heldUp = (): HttpError =>
  new HttpError(
    503,
    'busy',
    `The same message is being published by other requests, which have not ended within ${longestWaitMs / secondMs} s; it was not accepted here, send it again.`,
  );

/** Deduplicates one batch. If messages are equal, the first one's result counts for all. */
export function deduplicator(): (draft: Draft, by: Deduplication | undefined) => Promise<Deduplicated> {
  const firsts = new Map<string, Promise<Deduplicated>>();
  const waitUntil = now() + longestWaitMs;
  return async (draft, by) => {
    if (by === undefined) return { draft, messageId: draft.message.messageId, isDuplicate: false };
    const key = deduplicationKey(by, draft.message, draft.body);
    const known = firsts.get(key);
    if (known !== undefined) return { ...(await known), isDuplicate: true, key: undefined };
    const first = claim(draft, key, waitUntil);
    firsts.set(key, first);
    return first;
  };
}

/** Confirms that a message was accepted. If this fails, the next publisher accepts the message again. */
export async function confirmKey({ key, messageId }: Deduplicated): Promise<void> {
  if (key === undefined) return;
  try {
    await markAccepted(key, messageId);
  } catch (error) {
    log.warn('A deduplication key was not confirmed', { messageId, error: String(error) });
  }
}

/** @returns whether the message may be ended; false if another publisher relies on it */
export const giveUpKey = async ({ key, messageId, isDuplicate }: Deduplicated): Promise<boolean> =>
  !isDuplicate && (key === undefined || (await releaseKey(key, messageId)));
