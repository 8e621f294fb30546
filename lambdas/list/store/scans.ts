/** The long reads that an account is doing: their leases, in a row of the usage table. */
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import { settings } from '../../aws/settings.ts';
import { type Row } from '../../aws/dynamodb.ts';
import { update } from '../../aws/writes.ts';

export interface ScanSlot {
  readonly accountId: string;
  readonly number: number;
  /** When the lease ends, so that a dead process's slot is freed. */
  readonly until: number;
}

const keyOf = (accountId: string) => ({ owner: accountId, id: 'scans' });
const attributeOf = (number: number): string => `s${number}`;

/** @returns undefined if the slot was free and is taken; otherwise the row */
async function take({ accountId, number, until }: ScanSlot, now: number): Promise<Row | undefined> {
  const outcome = await update(
    settings.usageTable,
    keyOf(accountId),
    'SET #slot = :until, expiresAt = :expiresAt',
    {
      onlyIf: 'attribute_not_exists(#slot) OR #slot <= :now',
      values: { until, now, expiresAt: epochSeconds(until + dayMs) },
      names: { slot: attributeOf(number) },
    },
  );
  return outcome.isMade ? undefined : (outcome.row ?? {});
}

/**
 * Takes one of an account's slots.
 *
 * @param most how many there are
 * @param first the slot to try first
 * @param lease when it starts and ends
 * @returns undefined if all are leased
 */
export async function takeScanSlot(
  accountId: string,
  most: number,
  first: number,
  lease: { readonly now: number; readonly until: number },
): Promise<ScanSlot | undefined> {
  let number = first;
  // The first try shows which slots are free, but other processes may be faster.
  for (let tries = 0; tries < most; tries += 1) {
    const slot = { accountId, number, until: lease.until };
    const row = await take(slot, lease.now);
    if (row === undefined) return slot;
    const free = Array.from({ length: most }, (_, index) => index).find((index) => {
      const until = row[attributeOf(index)];
      return typeof until !== 'number' || until <= lease.now;
    });
    if (free === undefined) return undefined;
    number = free;
  }
  return undefined;
}

/** Frees a slot, unless its lease has ended and another process has it. */
export async function freeScanSlot({ accountId, number, until }: ScanSlot): Promise<void> {
  await update(settings.usageTable, keyOf(accountId), 'REMOVE #slot', {
    onlyIf: '#slot = :until',
    values: { until },
    names: { slot: attributeOf(number) },
  });
}
