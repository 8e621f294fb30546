/**
 * The waits of all runs for an event, by time: a partition for each event. A row has only the place of a
 * wait. Its fields and state are in the run's journal.
 */
import * as z from 'zod/mini';
import { epochSeconds } from '../../shared/clock.ts';
import type { Readable } from '../../options/option.ts';
import { eventDigest } from '../rules/journal.ts';
import { settings } from '../../aws/settings.ts';
import { deleteAll, getRow, putAll, queryRows } from '../../aws/dynamodb.ts';

const waiterRow = z.object({
  accountId: z.string(),
  runId: z.string(),
  eventId: z.string(),
  /** The place of the wait's record in the run's journal. */
  seq: z.number(),
  /** When the wait began. */
  at: z.number(),
});
export type Waiter = Readable<z.infer<typeof waiterRow>>;

/** Account ids have no `#`. */
const ownerOf = (accountId: string, eventId: string): string => `event#${accountId}#${eventDigest(eventId)}`;

/** Waits are ordered by time. Waits of one run are ordered by their places in the journal. */
const keyOf = ({ accountId, eventId, runId, seq, at }: Waiter): { owner: string; id: string } => ({
  owner: ownerOf(accountId, eventId),
  id: `${String(at).padStart(15, '0')}#${String(seq).padStart(9, '0')}#${runId}`,
});

export const putWaiter = (waiter: Waiter, keptUntil: number): Promise<void> =>
  putAll(settings.workflowsTable, [{ ...keyOf(waiter), ...waiter, expiresAt: epochSeconds(keptUntil) }]);

export const hasWaiter = async (waiter: Waiter): Promise<boolean> =>
  (await getRow(settings.workflowsTable, keyOf(waiter), true)) !== undefined;

export const removeWaiters = (waiters: readonly Waiter[]): Promise<void> =>
  deleteAll(settings.workflowsTable, waiters.map(keyOf));

/** The waits for an event, in the order in which they began. */
export async function* waitersOf(accountId: string, eventId: string): AsyncGenerator<Waiter> {
  const rows = queryRows({
    TableName: settings.workflowsTable,
    ConsistentRead: true,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': { S: ownerOf(accountId, eventId) } },
  });
  for await (const row of rows) {
    const waiter = waiterRow.parse(row);
    if (waiter.eventId === eventId) yield waiter;
  }
}
