import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import type { HttpError } from '../../error/httpError.ts';
import { newId } from '../../shared/ids.ts';
import { checkBodySize } from '../../message/bodies.ts';
import type { StoredBody } from '../../message/message.ts';
import { isActive, type Snapshot, type WaitRecord, type RunKey } from '../rules/journal.ts';
import { checkEventId } from '../rules/step.ts';
import { withCharges } from '../../usage/charge.ts';
import { changeRun, type Decision, storeEntryBody } from '../runs/changeRun.ts';
import { followEnds, sendChecks } from './endWait.ts';
import { granter, wakingOf, type GrantMessages, type Woken } from './wakeWaits.ts';

/** @throws HttpError 412 for a malformed event id, 413 */
export function checkEvent(account: Account, eventId: string, event: Uint8Array): void {
  checkEventId(eventId);
  checkBodySize(account, event);
}

interface GivenEvent {
  readonly eventId: string;
  readonly event: Uint8Array;
  /** The refusal for a run that has ended or is unknown. */
  readonly noActiveRun: () => HttpError;
  /**
   * Finds the place of the wait that the event ends. If undefined, the event is stored. Called again if other
   * processes change the run.
   */
  readonly findWait: (snapshot: Snapshot) => Promise<number | undefined>;
  readonly loadWait: (seq: number) => Promise<WaitRecord>;
  /** @throws HttpError if the run may not store the event */
  readonly checkKept: (snapshot: Snapshot) => void;
  /** Bytes of a webhook call in the run's list; undefined for a notification. */
  readonly callBytes?: number;
  /** The run's snapshot, if it was just read. */
  readonly known?: Snapshot | undefined;
}

interface Given {
  readonly messageId: string;
  readonly createdAt: number;
  /** The wait that the event ended; undefined if the event is stored for the next one. */
  readonly wait: WaitRecord | undefined;
}

/**
 * Gives an event of any size to a run. It ends a wait, or is stored for the next one.
 *
 * @throws HttpError the given refusals; 412 if the run's list would be too long; 429 or 412 above a limit of
 * the account
 * @throws RunBusy
 */
export async function giveEvent(account: Account, key: RunKey, given: GivenEvent): Promise<Given> {
  const messageId = newId('msg', now(), account.shards);
  const activeRun = (snapshot: Snapshot | undefined): Snapshot => {
    if (!isActive(snapshot)) throw given.noActiveRun();
    return snapshot;
  };
  const { record, snapshot, result } = await withCharges(account, 1, (charges) => {
    const decide = deciderOf(account, key, messageId, given, granter(charges));
    return changeRun(key, (current) => decide(activeRun(current)), given.known);
  });
  const active = activeRun(snapshot);
  const { createdAt } = active;
  const [woken] = result ?? [];
  if (woken === undefined || record?.kind !== 'steps') return { messageId, createdAt, wait: undefined };
  await followEnds(account, [{ key, snapshot: active, record, places: [woken] }], false);
  return { messageId: woken.result.entry.messageId, createdAt, wait: woken.wait };
}

function deciderOf(
  account: Account,
  key: RunKey,
  messageId: string,
  { eventId, event, findWait, loadWait, checkKept, callBytes }: GivenEvent,
  grant: GrantMessages,
): (snapshot: Snapshot) => Promise<Decision<readonly Woken[]>> {
  const wake = wakingOf(account, key, event, async (seq) => {
    await sendChecks([{ ...key, seq }]);
    return loadWait(seq);
  });
  let stored: { readonly body: StoredBody; readonly keptUntil: number } | undefined;
  return async (snapshot) => {
    const seq = await findWait(snapshot);
    if (seq !== undefined) {
      grant(1);
      return wake(snapshot, [seq]);
    }
    grant(0);
    checkKept(snapshot);
    const { accountId } = key;
    const { keptUntil } = snapshot;
    if (stored === undefined || stored.keptUntil < keptUntil) {
      const body = await storeEntryBody({ accountId, messageId, expiresAt: keptUntil }, event, now());
      stored = { body, keptUntil };
    }
    return { record: { kind: 'event', at: now(), eventId, messageId, body: stored.body, callBytes } };
  };
}
