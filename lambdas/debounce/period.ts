/**
 * Quiet periods of debounced messages: a row for each key, in the table of deduplication.
 *
 * The states of a period, in the order in which it passes them:
 *
 * 1. Open: each publish with its key before `dueAt` joins it, gets the next version, and moves `dueAt` later, up to `latestAt`. Then it
 *    writes the message's row, unless a later version has.
 * 2. Closed: the worker of the message closes it when it is due and the message's row has the last version. The next publish begins
 *    another period, with another message.
 *
 * A publisher that dies between its two writes leaves a version that no row has. The worker waits until that publisher has surely ended,
 * and delivers the version before.
 */
import * as z from 'zod/mini';
import { settings } from '../aws/settings.ts';

export const periodRow = z.object({
  messageId: z.string(),
  version: z.number(),
  joinedAt: z.number(),
  dueAt: z.number(),
  latestAt: z.number(),
  isClosed: z.optional(z.boolean()),
});
export type Period = z.infer<typeof periodRow>;

export const placeOf = (key: string) => ({
  TableName: settings.deduplicationTable,
  Key: { id: { S: key } },
});
