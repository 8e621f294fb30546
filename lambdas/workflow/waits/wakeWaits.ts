/** Wakes waits of one run with an event. */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import type { Snapshot, StepsRecord, WaitRecord } from '../rules/journal.ts';
import { checkRoom } from '../rules/placing.ts';
import type { RunKey } from '../store/journals.ts';
import type { Decision } from '../runs/changeRun.ts';
import { resultOf, type Place, type WaitResult } from './endWait.ts';
import { settingsOfRun } from '../runs/settings.ts';

/** A wait that an event is about to end. */
export interface Woken extends Place {
  readonly result: WaitResult;
}

export interface Waking {
  /** Makes the decision to end waits with the event. @throws HttpError 412 where their results would be too much */
  readonly decide: (head: Snapshot, seqs: readonly number[]) => Promise<Decision<readonly Woken[]>>;
}

/**
 * Prepares waits of a run to be woken. What was made for a wait is used again where the change is decided anew.
 *
 * @param event the bytes of the notification
 * @param begin reads a wait, whose look has been sent then: see `sendLooks`
 */
export function wakingOf(
  account: Account,
  key: RunKey,
  event: Uint8Array,
  begin: (seq: number) => Promise<WaitRecord>,
): Waking {
  const made = new Map<number, Woken>();

  async function wake(head: Snapshot, seq: number): Promise<Woken> {
    const known = made.get(seq);
    // Others may have had the run kept for longer since.
    if (known !== undefined && known.result.keptUntil >= head.keptUntil) return known;
    const wait = known?.wait ?? (await begin(seq));
    const result = await resultOf(account, key, head, await settingsOfRun(key, head), wait, event);
    const woken = { seq, wait, result };
    made.set(seq, woken);
    return woken;
  }

  return {
    decide: async (head, seqs) => {
      const woken: Woken[] = [];
      for (const seq of seqs) woken.push(await wake(head, seq));
      const entries = woken.map(({ result }) => result.entry);
      checkRoom(head, entries);
      const record: StepsRecord = { kind: 'steps', at: now(), entries };
      return {
        record,
        keptUntil: Math.max(...woken.map(({ result }) => result.keptUntil)),
        result: woken,
      };
    },
  };
}
