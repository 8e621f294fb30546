import { now } from '../../domain/clock.ts';
import { chunksOf, eachOf } from '../../domain/lists.ts';
import { removeDeadLetter, type DeadLetter, type Removal } from '../../stores/deadLetter/deadLetters.ts';
import { countIn, countOut, type PresentDeadLetter } from '../../stores/deadLetter/size.ts';
import { logAndContinue } from '../logAndContinue.ts';

/** Dead letters that are taken out at once. A process that dies can leave so many uncounted. */
export const removedAtOnce = 20;
export const expiriesOf = (entries: readonly Pick<PresentDeadLetter, 'expiresAt'>[]): readonly number[] =>
  entries.map(({ expiresAt }) => expiresAt);

/** @returns the ids of the dead letters that were there */
export async function takeOutAll(
  accountId: string,
  dlqIds: readonly string[],
  reason: Removal,
): Promise<ReadonlySet<string>> {
  const isGone = new Set<string>();
  await eachOf(dlqIds, removedAtOnce, async (dlqId) => {
    if (await removeDeadLetter(accountId, dlqId, now(), reason)) isGone.add(dlqId);
  });
  return isGone;
}

/**
 * Takes out dead letters that their owner deletes, or that were sent again. They are counted out first: should the process
 * die in between, the count is too low, and none is trimmed too early.
 *
 * @returns the ids of those that were still there
 */
export async function removeDeadLetters(
  accountId: string,
  entries: readonly Pick<DeadLetter, 'dlqId' | 'expiresAt'>[],
  reason: Removal,
): Promise<ReadonlySet<string>> {
  const isGone = new Set<string>();
  for (const some of chunksOf(entries, removedAtOnce)) {
    await countOut(accountId, expiriesOf(some), now());
    const taken = await takeOutAll(
      accountId,
      some.map(({ dlqId }) => dlqId),
      reason,
    );
    for (const dlqId of taken) isGone.add(dlqId);
    const notTaken = some.filter(({ dlqId }) => !taken.has(dlqId));
    await logAndContinue(countIn(accountId, expiriesOf(notTaken), now()));
  }
  return isGone;
}
