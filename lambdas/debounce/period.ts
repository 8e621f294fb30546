/**
 * Quiet periods of debounced messages: a row for each key, in the table of deduplication.
 *
 * The states of a period, in order:
 *
 * 1. Open: each publish with its key before `dueAt` joins it, gets the next version, and moves `dueAt` later,
 * up to `latestAt`. Then it writes the message's row, unless a later version is already there.
 * 2. Closed: the message's worker closes it when it is due and the row has the last version. The next publish
 * begins another period.
 *
 * A publisher that dies between its two writes leaves a version without a row. The worker waits until that
 * publisher's request must be over, and delivers the previous version.
 */
import * as z from 'zod/mini';

export const periodRow = z.object({
  messageId: z.string(),
  /** The first `dueAt`, which the job of the period has. A publish that joined may also have sent a job. */
  firstDueAt: z.number(),
  version: z.number(),
  joinedAt: z.number(),
  dueAt: z.number(),
  latestAt: z.number(),
  isClosed: z.optional(z.boolean()),
});
export type Period = z.infer<typeof periodRow>;
