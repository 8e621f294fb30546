/**
 * Limits long reads. A list or bulk operation with few matches reads many rows, for seconds. Without a limit,
 * one account could occupy all executions of a function.
 */
import { now, secondMs } from '../shared/clock.ts';
import { Turn } from '../shared/lists.ts';
import { HttpError } from '../error/httpError.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { count } from '../aws/metrics.ts';
import { freeScanSlot, takeScanSlot, type ScanSlot } from './store/scans.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';

/** How many long reads an account can have at the same time, in all processes. */
export const scansAtOnce = 5;
/** How many rows a request reads without a slot: twenty pages. */
export const rowsWithoutSlot = 2_000;
/** API functions time out after 28 s, so an older lease is of a process that died. */
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

/** The CPU time of this process. On a busy machine, waiting for the CPU must not count as work. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Passes on the rows that a request reads. After many rows it takes a slot, which is freed when the request
 * stops. Other requests get turns, because rows come from memory in batches.
 *
 * @param weight how many rows were read for each of these
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
