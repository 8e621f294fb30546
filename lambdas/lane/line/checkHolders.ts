/**
 * A slot of a queue ends with its message only. Should that fail in a way that nobody thought of, such as a worker of an older
 * release, the queue would stand still; so the slots of a queue in which others wait are checked every few days.
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

/** Ends the slots of messages that are over, their callbacks included. */
export async function checkHolders(lane: Lane): Promise<void> {
  await eachOf([...lane.leases], holdersAtOnce, async ([holder, { until, callbacks = [], ticket }]) => {
    if (until !== undefined) return;
    const isOneOver = async (messageId: string): Promise<boolean> => {
      const history = await loadMessage({ accountId: lane.accountId, messageId });
      return history === undefined || isOver(history);
    };
    const { messageId } = parseEntry(holder);
    for (const one of [messageId, ...callbacks]) if (!(await isOneOver(one))) return;
    log.error('A message that is over had kept its slot of a queue', { queue: lane.name, messageId });
    await lanes.update(lane, (found) => endedHolder(found, holder, ticket));
  });
}
