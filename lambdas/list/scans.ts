/**
 * Limits long reads. A list or bulk operation with few matches reads many rows for seconds, and one account's could occupy all
 * executions of a function.
 */
import { now, secondMs } from '../shared/clock.ts';
import { Turn } from '../shared/lists.ts';
import { HttpError } from '../error/httpError.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { count } from '../aws/metrics.ts';
import { freeScanSlot, takeScanSlot, type ScanSlot } from './store/scans.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

/** An account's concurrent long reads in all processes. */
export const scansAtOnce = 5;
/** Rows that a request reads without a slot: twenty pages. */
export const rowsWithoutSlot = 2_000;
/** API functions time out after 28 s, so an older lease belongs to a dead process. */
const leaseMs = 30 * secondMs;

const code: CodeOf<429> = 'scan_limit_reached';

const tooManyScans = (): HttpError => {
  count('LimitsHit');
  return new HttpError(
    429,
    code,
    `The account has ${scansAtOnce} requests under way that read more than ${rowsWithoutSlot} entries each, the most at one time; send this one again when another has ended, or narrow it by fromDate and toDate.`,
    { 'retry-after': '1' },
  );
};

export const isScanRefusal = (error: unknown): boolean => error instanceof HttpError && error.code === code;

/** @throws HttpError 429 at the account's limit of long reads */
async function takeSlot(accountId: string): Promise<ScanSlot> {
  const time = now();
  const first = Math.floor(Math.random() * scansAtOnce);
  const slot = await takeScanSlot(accountId, scansAtOnce, first, { now: time, until: time + leaseMs });
  if (slot === undefined) throw tooManyScans();
  return slot;
}

/** On a busy machine, waiting for the CPU is not the work of other requests. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Passes on a request's rows. After many rows it takes a slot, and frees it when the request stops. Other requests get turns,
 * because rows come from memory in batches.
 *
 * @param weight the rows read for each of these
 * @throws HttpError 429 at the account's limit of long reads
 */
export async function* limitedScan<T>(
  accountId: string,
  rows: AsyncIterable<T> | Iterable<T>,
  weight = 1,
): AsyncGenerator<T> {
  let read = 0;
  let slot: ScanSlot | undefined;
  const turn = new Turn(cpuMs);
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
