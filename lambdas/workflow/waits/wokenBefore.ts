import type { Account } from '../../account/account.ts';
import type { Snapshot, WaitRecord } from '../rules/journal.ts';
import { hasEnded } from '../run.ts';
import { waitResult } from '../waiting.ts';
import { loadBody } from '../../message/bodies.ts';
import { removeWaiters, type Waiter } from '../store/waiters.ts';
import { followEnds } from './endWait.ts';
import { recordOfEnd } from './checkWait.ts';

/**
 * Looks at a wait that is over, and whose row is still there. Where it ended with the same event, this may be the same request,
 * sent again: what follows is done again, and the answer is the same.
 *
 * @param head what is true of its run
 * @returns undefined where it ended otherwise: whoever ended it goes on, or the look at it does
 */
export async function wokenBefore(
  account: Account,
  head: Snapshot | undefined,
  waiter: Waiter,
  wait: WaitRecord,
  event: Uint8Array,
): Promise<{ readonly messageId: string; readonly deduplicated: true } | undefined> {
  if (head === undefined || hasEnded(head.state) || waiter.seq < head.startSeq) {
    await removeWaiters([waiter]);
    return undefined;
  }
  const { accountId, runId, seq } = waiter;
  const key = { accountId, runId };
  const record = await recordOfEnd(key, head, wait);
  const entry = record.entries.find(({ step }) => step?.stepId === wait.step.stepId);
  const expected = waitResult(wait.step, wait.eventId, event);
  if (entry?.bodyBytes !== expected.length) return undefined;
  if (!expected.equals(await loadBody(entry.messageId, entry.body))) return undefined;
  await followEnds(account, [{ key, head, record, places: [{ seq, wait }] }], true);
  return { messageId: entry.messageId, deduplicated: true };
}
