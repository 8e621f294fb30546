import { setTimeout } from 'node:timers/promises';
import { now } from '../domain/clock.ts';
import { deduplicationKey, deduplicationWindowMs } from '../domain/deduplication.ts';
import type { Deduplication } from '../domain/options.ts';
import { claimKey, markAccepted, releaseKey, takeOver } from '../stores/deduplication.ts';
import { log } from '../transport/log.ts';
import type { Draft } from './accept.ts';

/** What is to be done with a message that says by what it counts as the same as another. */
export interface Verdict {
  /** To be accepted, under this id; undefined when the first one was accepted already. */
  readonly draft: Draft | undefined;
  readonly messageId: string;
  readonly isDuplicate: boolean;
  /** The key that was claimed, or taken over, for the draft. */
  readonly key?: string | undefined;
}

/** How long a message may be on its way to being accepted before its publisher counts as dead. */
const patienceMs = 2_000;

/**
 * Finds out whether a message was published before. The key is claimed before the first is accepted, so its publisher
 * may fail or die between: whoever comes then takes its place, under its id. Nothing is answered as a duplicate of what
 * will not be delivered.
 */
async function claim(draft: Draft, key: string): Promise<Verdict> {
  const { messageId } = draft.message;
  for (let waitMs = 20; ; waitMs *= 2) {
    const time = now();
    const first = await claimKey({ key, messageId, now: time, until: time + deduplicationWindowMs });
    if (first.messageId === messageId) return { draft, messageId, isDuplicate: false, key };
    if (first.isAccepted) return { draft: undefined, messageId: first.messageId, isDuplicate: true };
    if (time < first.claimedAt + patienceMs) {
      await setTimeout(waitMs);
    } else if (await takeOver(key, first.messageId)) {
      const inItsPlace = { ...draft, message: { ...draft.message, messageId: first.messageId } };
      return { draft: inItsPlace, messageId: first.messageId, isDuplicate: true, key };
    }
  }
}

/** Looks into the messages of one request: of those that are the same, the first stands for the others. */
export function deduplicator(): (draft: Draft, by: Deduplication | undefined) => Promise<Verdict> {
  const firsts = new Map<string, Promise<Verdict>>();
  return async (draft, by) => {
    if (by === undefined) return { draft, messageId: draft.message.messageId, isDuplicate: false };
    const key = deduplicationKey(by, draft.message, draft.body);
    const known = firsts.get(key);
    if (known !== undefined) return { ...(await known), isDuplicate: true, key: undefined };
    const first = claim(draft, key);
    firsts.set(key, first);
    return first;
  };
}

/** Lets those that come after know that a message was accepted. Should that fail, one of them accepts it once more. */
export async function confirm({ key, messageId }: Verdict): Promise<void> {
  if (key === undefined) return;
  try {
    await markAccepted(key, messageId);
  } catch (error) {
    log.warn('A deduplication key could not be confirmed', { messageId, error: String(error) });
  }
}

/** @returns whether a message that is not to be accepted may be ended: not when others rely on it */
export const giveUp = async ({ key, messageId, isDuplicate }: Verdict): Promise<boolean> =>
  !isDuplicate && (key === undefined || (await releaseKey(key, messageId)));
