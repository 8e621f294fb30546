import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../../shared/clock.ts';
import { HttpError } from '../../error/httpError.ts';
import { deduplicationKey, deduplicationWindowMs } from '../rules/deduplicationKey.ts';
import type { Deduplication } from '../../options/deduplication.ts';
import { claimAfter, claimKey, markAccepted, releaseKey, takeOver } from '../store/deduplication.ts';
import { log } from '../../aws/log.ts';
import { endedUndelivered } from '../../message/history.ts';
import type { Draft } from '../prepare.ts';

/** A message of which is known whether it is new or a duplicate of one before, or that this could not be found out in time. */
export interface Deduplicated {
  /** The message to accept, under this id; undefined when the first one was accepted before. */
  readonly draft: Draft | undefined;
  readonly messageId: string;
  readonly isDuplicate: boolean;
  readonly isDebounced?: boolean;
  /** The key that was claimed, or taken over, for the draft. */
  readonly key?: string | undefined;
  /** 503 when others that publish the same message have not ended in time. */
  readonly error?: HttpError;
}

/** A publisher that has not accepted its message this long after it claimed the key counts as dead. */
const memoryTimeoutMs = 2_000;
/**
 * A request waits this long for others that publish the same messages: for the first, and for a few that took its place and
 * died too. It has to accept its own messages after that, and an API function ends after 28 s.
 */
const longestWaitMs = 10_000;
/** The longest pause between two reads of a key; each pause is twice as long as the one before. */
const longestPauseMs = 1_280;

/**
 * Finds out whether a message was published before, by claiming its key. The first publisher claims before it accepts, so it
 * may fail or die between; then one of those that wait takes its place and accepts the message under the first one's id, and
 * the others wait for that one. A message that was cancelled or has failed for good gives its key to the next. So nothing is
 * answered as a duplicate of a message that will not be delivered.
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
    } else if (time >= first.claimedAt + memoryTimeoutMs) {
      const claimed = { key, messageId: first.messageId, now: now(), endedBy: time - memoryTimeoutMs };
      if (await takeOver(claimed)) {
        const inItsPlace = { ...draft, message: { ...draft.message, messageId: first.messageId } };
        return { draft: inItsPlace, ...duplicate, key };
      }
      // Another publisher has claimed the key first: the next read shows what became of its message.
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

/** Makes a function that deduplicates the messages of one batch: the first of those that are the same stands for the others. */
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

/** Marks a key's message as accepted, for those that come after. Should that fail, one of them accepts it once more. */
export async function confirmKey({ key, messageId }: Deduplicated): Promise<void> {
  if (key === undefined) return;
  try {
    await markAccepted(key, messageId);
  } catch (error) {
    log.warn('A deduplication key could not be confirmed', { messageId, error: String(error) });
  }
}

/**
 * Gives up the key of a message that is not accepted.
 *
 * @returns whether the message may be ended: not when another publisher relies on it
 */
export const giveUpKey = async ({ key, messageId, isDuplicate }: Deduplicated): Promise<boolean> =>
  !isDuplicate && (key === undefined || (await releaseKey(key, messageId)));
