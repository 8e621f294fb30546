/**
 * The limit of long reads. A list or a bulk operation whose filter matches little reads many rows, for seconds: without a limit,
 * those of one account could take every execution of a function. A request that reads few rows costs nothing here.
 */
import { now, secondMs } from '../shared/clock.ts';
import { Turn } from '../shared/lists.ts';
import { HttpError } from '../error/httpError.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { count } from '../aws/metrics.ts';
import { freeScanSlot, takeScanSlot, type ScanSlot } from './store/scans.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

/** The long reads that an account may have at one time, in all processes together. */
export const scansAtOnce = 5;
/** Rows that a request reads without a slot: twenty pages. */
export const rowsWithoutSlot = 2_000;
/** A function that answers requests ends after 28 s: a slot that is leased for longer is that of a dead process. */
const leaseMs = 30 * secondMs;

const code: CodeOf<429> = 'scan_limit_reached';

const tooManyScans = (): HttpError => {
  count('LimitsHit');
  return new HttpError(
    429,
    code,
    `The account has ${scansAtOnce} requests under way that look at more than ${rowsWithoutSlot} entries each, which is as many as it may have at one time; send this one again when another has ended, or narrow it by fromDate and toDate.`,
    { 'retry-after': '1' },
  );
};

export const isScanRefusal = (error: unknown): boolean => error instanceof HttpError && error.code === code;

/** @throws HttpError 429 when the account has as many long reads as it may */
async function takeSlot(accountId: string): Promise<ScanSlot> {
  const time = now();
  const first = Math.floor(Math.random() * scansAtOnce);
  const slot = await takeScanSlot(accountId, scansAtOnce, first, { now: time, until: time + leaseMs });
  if (slot === undefined) throw tooManyScans();
  return slot;
}

/**
 * Passes on the rows that a request reads. Once they are many, it takes a slot, which it frees when the request stops. Rows come from
 * memory, many at a time, so it lets other requests of the process go on now and then.
 *
 * @param weight the rows that one of these stands for, where each is read with others
 * @throws HttpError 429 when the account has as many long reads as it may
 */
export async function* limitedScan<T>(
  accountId: string,
  rows: AsyncIterable<T> | Iterable<T>,
  weight = 1,
): AsyncGenerator<T> {
  let read = 0;
  let slot: ScanSlot | undefined;
  const turn = new Turn();
  try {
    for await (const row of rows) {
      await turn.end();
      read += weight;
      if (read > rowsWithoutSlot) slot ??= await takeSlot(accountId);
      yield row;
    }
  } finally {
    if (slot !== undefined) await logAndContinue(freeScanSlot(slot));
  }
}
