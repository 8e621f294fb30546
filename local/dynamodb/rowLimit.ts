/**
 * Limits the rows of each read. Without a limit dynoxide takes all rows from the beginning of a read to the end of the table into
 * its memory, to answer with the first megabyte of them: a large table would be read in whole for each of its pages.
 */
import type { Send } from './connection.ts';

/** About as many rows as a megabyte has. */
export const rowsPerRead = 1_000;

const reads = new Set(['Scan', 'Query']);

/** A reader of pages goes on behind the last key in any case, so it does not see whether rows or bytes ended a page. */
export const limitRows =
  (send: Send): Send =>
  (call) =>
    send(
      !reads.has(call.operation) || call.body.includes('"Limit":')
        ? call
        : { ...call, body: `{"Limit":${rowsPerRead},${call.body.slice(1)}` },
    );
