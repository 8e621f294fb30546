import { now } from '../../shared/clock.ts';
import { cancelledUpTo, fairLineCancelled } from '../rules/cancelling.ts';
import type { Entry } from '../rules/entry.ts';
import type { Lane } from '../lane.ts';
import { isOver } from '../../message/message.ts';
import { loadMessage } from '../../message/history.ts';
import { count } from '../../aws/metrics.ts';
import { endMessage } from '../../message/messages.ts';
import { onFairLine } from './fairEntries.ts';
import { onLine } from './linePages.ts';
import { lanes } from '../slots/processLanes.ts';

/**
 * Cancels the messages in a deleted queue's lines, and logs each.
 *
 * @param until when to stop
 * @returns false if messages are left; the lane records which
 */
export async function cancelDeletedLines(lane: Lane, until: number): Promise<boolean> {
  const cancel = async ({ messageId }: Entry): Promise<void> => {
    const history = await loadMessage({ accountId: lane.accountId, messageId });
    if (history === undefined || isOver(history)) return;
    if (await endMessage(history.message, 'CANCELED', now())) count('Cancelled');
  };
  for (const line of lane.deletedLines) {
    if (now() > until) return false;
    const { entries, firstPage, nextPage } = line;
    const left = await onLine(lane, entries, [firstPage, nextPage], until, cancel);
    await lanes.update(lane, (found) => cancelledUpTo(found, line, left ?? nextPage));
    if (left !== undefined) return false;
  }
  for (const line of lane.deletedFairLines) {
    if (now() > until) return false;
    const left = await onFairLine(lane, line.fair, line.from, until, { onEntry: cancel });
    await lanes.update(lane, (found) => fairLineCancelled(found, line, left));
    if (left !== undefined) return false;
  }
  return true;
}
