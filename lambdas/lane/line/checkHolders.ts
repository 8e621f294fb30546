/**
 * Frees the slots of messages that have ended. A slot is freed with its message, but a bug could prevent it,
 * and the queue would block. So queues with waiting messages are checked every few days.
 */
import type { Lane } from '../lane.ts';
import { endedHolder } from '../rules/leaving.ts';
import { parseEntry } from '../rules/entry.ts';
import { eachOf } from '../../shared/lists.ts';
import { isOver } from '../../message/message.ts';
import { log } from '../../aws/log.ts';
import { loadMessage } from '../../message/history.ts';
import { lanes } from '../slots/processLanes.ts';

const holdersAtOnce = 20;

export async function checkHolders(lane: Lane): Promise<void> {
  await eachOf([...lane.leases], holdersAtOnce, async ([holder, { until, callbacks = [], ticket }]) => {
    if (until !== undefined) return;
    const isOneOver = async (messageId: string): Promise<boolean> => {
      const history = await loadMessage({ accountId: lane.accountId, messageId });
      return history === undefined || isOver(history);
    };
    const { messageId } = parseEntry(holder);
    for (const one of [messageId, ...callbacks]) if (!(await isOneOver(one))) return;
    log.error('A message that is over still held a slot of its queue', { queue: lane.name, messageId });
    await lanes.update(lane, (found) => endedHolder(found, holder, ticket));
  });
}
