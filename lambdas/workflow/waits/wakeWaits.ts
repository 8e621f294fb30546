import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { isActive, type Snapshot, type WaitRecord, type RunKey } from '../rules/journal.ts';
import { checkCapacity } from '../rules/placing.ts';
import { type Decision, settingsOfRun } from '../runs/changeRun.ts';
import { resultOf, type PlacedWait, type WaitResult, followEnds } from './endWait.ts';
import { waitResult } from '../requestedWait.ts';
import { loadBody } from '../../message/bodies.ts';
import { removeWaiters, type Waiter } from '../store/waiters.ts';
import { findResult, resultIn } from '../runs/follow.ts';
import type { Charges } from '../../usage/charge.ts';

/** @throws HttpError 429 or 412 if a change of a run makes too many messages */
export type GrantMessages = (messages: number) => void;

export function granter({ charge, giveBack }: Charges): GrantMessages {
  let granted = 0;
  return (messages) => {
    if (granted > messages) giveBack(granted - messages);
    const refusal = granted < messages ? charge(messages - granted) : undefined;
    if (refusal !== undefined) throw refusal;
    granted = messages;
  };
}

/** A wait that an event is about to end. */
export interface Woken extends PlacedWait {
  readonly result: WaitResult;
}

type Waking = (snapshot: Snapshot, seqs: readonly number[]) => Promise<Decision<readonly Woken[]>>;

/**
 * Makes results for waits. A result is reused if the change of the run is decided again.
 *
 * @param event the bytes of the notification
 * @param begin reads a wait, after the job that checks it was sent: see `sendChecks`
 */
export function wakingOf(
  account: Account,
  key: RunKey,
  event: Uint8Array,
  begin: (seq: number) => Promise<WaitRecord>,
): Waking {
  const made = new Map<number, Woken>();

  async function wake(snapshot: Snapshot, seq: number): Promise<Woken> {
    const known = made.get(seq);
    // The result must be kept as long as the run, which may have been extended since.
    if (known !== undefined && known.result.keptUntil >= snapshot.keptUntil) return known;
    const wait = known?.wait ?? (await begin(seq));
    const result = await resultOf(account, key, snapshot, await settingsOfRun(key, snapshot), wait, event);
    const woken = { seq, wait, result };
    made.set(seq, woken);
    return woken;
  }

  return async (snapshot, seqs) => {
    const woken: Woken[] = [];
    for (const seq of seqs) woken.push(await wake(snapshot, seq));
    const entries = woken.map(({ result }) => result.entry);
    checkCapacity(snapshot, entries);
    const keptUntil = Math.max(...woken.map(({ result }) => result.keptUntil));
    return { record: { kind: 'steps', at: now(), entries }, keptUntil, result: woken };
  };
}

/**
 * Finds out how a wait ended that still has its row. If the same event ended it, this may be a repeated
 * request, which gets the same answer.
 *
 * @returns undefined if it ended otherwise; the process that ended it, or a job, does the work that follows
 */
export async function wokenBefore(
  account: Account,
  snapshot: Snapshot | undefined,
  waiter: Waiter,
  wait: WaitRecord,
  event: Uint8Array,
): Promise<{ readonly messageId: string; readonly deduplicated: true } | undefined> {
  if (!isActive(snapshot) || waiter.seq < snapshot.startSeq) {
    await removeWaiters([waiter]);
    return undefined;
  }
  const { accountId, runId, seq } = waiter;
  const key = { accountId, runId };
  const record = await findResult(key, snapshot, wait.step.stepId);
  const entry = resultIn(record, wait.step.stepId);
  const expected = waitResult(wait.step, wait.eventId, event);
  if (entry.bodyBytes !== expected.length) return undefined;
  if (!expected.equals(await loadBody(entry.messageId, entry.body))) return undefined;
  await followEnds(account, [{ key, snapshot, record, places: [{ seq, wait }] }], true);
  return { messageId: entry.messageId, deduplicated: true };
}
