/** Gives one run an event: a notification, or a call of one of its webhooks. */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import type { HttpError } from '../../error/httpError.ts';
import { newId } from '../../shared/ids.ts';
import type { StoredBody } from '../../message/bodies.ts';
import type { EventRecord, Snapshot, WaitRecord } from '../rules/journal.ts';
import { hasEnded } from '../run.ts';
import type { RunKey } from '../store/journals.ts';
import { withCharges } from '../../usage/charge.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { followEnds, sendLooks } from './endWait.ts';
import { storeEntryBody } from '../runs/entryBodies.ts';
import { oneMessage, type OneMessage } from './oneMessage.ts';
import { wakingOf, type Woken } from './wakeWaits.ts';

/** An event, and the rules for what it does. */
export interface GivenEvent {
  readonly eventId: string;
  readonly event: Uint8Array;
  /** The refusal where the run has ended or is not known. */
  readonly noActiveRun: () => HttpError;
  /** Finds the place of the wait that the event ends; undefined where it is kept. Asked again where others were faster. */
  readonly findWait: (head: Snapshot) => Promise<number | undefined>;
  readonly loadWait: (seq: number) => Promise<WaitRecord>;
  /** @throws HttpError where the run may not keep it */
  readonly checkKept: (head: Snapshot) => void;
  /** Bytes that a webhook's call takes in the run's list; absent for a notification. */
  readonly callBytes?: number;
  /** The run's head as it was read a moment ago, if it was. */
  readonly known?: Snapshot | undefined;
}

/** An event that a run has. */
export interface Given {
  readonly messageId: string;
  /** Unix milliseconds at which the run was started. */
  readonly createdAt: number;
  /** The wait that it has ended; undefined where it is kept for the next one. */
  readonly wait: WaitRecord | undefined;
}

/**
 * Gives a run an event, however large it is: a wait ends with it, or it is kept for the next one.
 *
 * @throws HttpError the given refusals; 412 where the list of the run would be too long; 429 or 412 above a limit of the account
 * @throws RunBusy
 */
export async function giveEvent(account: Account, key: RunKey, given: GivenEvent): Promise<Given> {
  const messageId = newId('msg', now(), account.shards);
  const activeRun = (head: Snapshot | undefined): Snapshot => {
    if (head === undefined || hasEnded(head.state)) throw given.noActiveRun();
    return head;
  };
  const { record, head, result } = await withCharges(account, 1, (charges) => {
    const decide = deciderOf(account, key, messageId, given, oneMessage(charges));
    return changeRun(key, (current) => decide(activeRun(current)), given.known);
  });
  const active = activeRun(head);
  const { createdAt } = active;
  const [woken] = result;
  if (woken === undefined || record?.kind !== 'steps') return { messageId, createdAt, wait: undefined };
  await followEnds(account, [{ key, head: active, record, places: [woken] }], false);
  return { messageId: woken.result.entry.messageId, createdAt, wait: woken.wait };
}

/** Makes the function that decides what an event does to a run. */
function deciderOf(
  account: Account,
  key: RunKey,
  messageId: string,
  { eventId, event, findWait, loadWait, checkKept, callBytes }: GivenEvent,
  message: OneMessage,
): (head: Snapshot) => Promise<Decision<readonly Woken[]>> {
  const waking = wakingOf(account, key, event, async (seq) => {
    await sendLooks([{ ...key, seq }]);
    return loadWait(seq);
  });
  let stored: { readonly body: StoredBody; readonly keptUntil: number } | undefined;
  return async (head) => {
    const seq = await findWait(head);
    if (seq !== undefined) {
      message.admit();
      return waking.decide(head, [seq]);
    }
    message.drop();
    checkKept(head);
    const { accountId } = key;
    const { keptUntil } = head;
    if (stored === undefined || stored.keptUntil < keptUntil) {
      const body = await storeEntryBody({ accountId, messageId, expiresAt: keptUntil }, event, now());
      stored = { body, keptUntil };
    }
    const { body } = stored;
    const record: EventRecord = { kind: 'event', at: now(), eventId, messageId, body, callBytes };
    return { record, result: [] };
  };
}
