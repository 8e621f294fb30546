/**
 * The lanes that an attempt acquires before it starts: its queue, the circuit of its host, its flow-control key, and its account,
 * in this order. It takes a slot of each, and waits in the line of the first that has no capacity; meanwhile it keeps the slots
 * that it has, except that of a circuit, which another may use. The order is the same for all, so no two attempts wait for each
 * other. And no more attempts of one queue or key wait for the account than may be in flight: a full lane is in no other's way.
 */
import { endOfAttempt, formatEntry, leaseMarginMs, type Entry } from '../rules/entry.ts';
import {
  enter,
  joinLine,
  keepUntil,
  keepWaiting,
  longestStartWaitMs,
  resume,
  type Grant,
} from '../rules/arrival.ts';
import {
  accountLane,
  circuitLane,
  isThere,
  keyLane,
  queueLane,
  withNewestLimits,
  type LaneKey,
} from '../lane.ts';
import type { LaneKind, AdmittedTo } from '../../job/job.ts';
import { wasDeletedWith } from '../rules/cancelling.ts';
import { leave, endGrant, type DeclineReason } from '../rules/leaving.ts';
import type { Verdict } from '../../circuit/verdict.ts';
import { dayMs } from '../../shared/clock.ts';
import { startToleranceMs, uncountStart } from '../rules/rate.ts';
import type { CircuitPass, Circuits } from './circuits.ts';
import { hasEnteredQueue, hasLaterSlots, youngMs, type DueAttempt } from './dueAttempt.ts';
import type { createProcessSlots, Slot } from './processSlots.ts';
import { renewWhileMade, type RenewalParts } from './renewal.ts';

export interface Acquired {
  /** To be called with the attempt's verdict about its host, before the slots are released. */
  readonly report: (verdict: Verdict) => void;
  /** To be called when the request is over; a second call changes nothing. The queue's slot stays with the message. */
  readonly release: () => Promise<void>;
  /**
   * To be called instead of `release` where the request is over and the attempt stays open until a moment, Unix milliseconds: it
   * keeps the slot of its key, and gives back all others.
   */
  readonly keep: (until: number) => Promise<void>;
  /** To be called instead of `release` where no request was made: then the attempt does not count for the rate of its key. */
  readonly giveBack: () => Promise<void>;
}

export interface LaneGateParts extends RenewalParts {
  readonly slots: Pick<ReturnType<typeof createProcessSlots>, 'take'>;
  readonly circuits: Circuits;
  readonly sleep: (ms: number) => Promise<void>;
}

/** An attempt that waits for its account keeps its key's slot for this long; after that it has to get another. */
const longestKeptMs = dayMs;

/** The lease of the key is extended where it takes longer than this to enter the account: half of its margin is left. */
const longestEntryMs = leaseMarginMs / 2;

/**
 * The reason why an attempt may not go on: that of a lane, or of its circuit.
 *
 * - `held`: it waits in the line of its host's circuit.
 * - `overdue`: it has waited there for too long, and is to fail.
 * - `deleted`: its message was delayed while its queue was deleted, and is to be cancelled.
 */
export type Refusal = Exclude<Grant, 'in'> | 'held' | 'overdue' | 'deleted';

interface AcquiredSlot extends Slot {
  /** Gives the slot back without a start. */
  readonly giveBack?: () => Promise<void>;
  /** Keeps the slot while the attempt is open. Without it the slot is released. */
  readonly keep?: (until: number) => Promise<void>;
}

const giveSlotBack = (slot: AcquiredSlot): Promise<void> => (slot.giveBack ?? slot.release)();

interface CountedSlot extends AcquiredSlot {
  /** When its start was counted, Unix milliseconds. */
  readonly countedAt: number;
}

export function createLaneGate({ lanes, slots, circuits, now, sleep, report }: LaneGateParts) {
  /** Makes an arrival, at the time of the change: others may write the lane first, and the lease is to last from then. */
  const arrivalOf = (dueAttempt: DueAttempt, kind: LaneKind) => {
    const { admittedTo, timeoutMs } = dueAttempt;
    return {
      entry: formatEntry(dueAttempt),
      turn: kind === 'circuit' ? undefined : dueAttempt.turn,
      ticket: admittedTo?.lane === kind ? admittedTo.ticket : undefined,
      isYoung: admittedTo !== undefined && now() - admittedTo.sentAt <= youngMs,
      until: kind === 'queue' ? undefined : endOfAttempt(timeoutMs, now()),
      hasWaited: false,
      mayHaveStarted: dueAttempt.isAgain,
    };
  };

  /** Enters the queue. A message that has entered it once keeps its slot until it is over, so its retries pass. */
  async function enterQueue(dueAttempt: DueAttempt): Promise<Grant | 'deleted'> {
    const { accountId, queueName } = dueAttempt;
    if (queueName === undefined || hasEnteredQueue(dueAttempt)) return 'in';
    return lanes.change<Grant | 'deleted'>(queueLane(accountId, queueName), (lane, time) => {
      const isGranted = dueAttempt.admittedTo !== undefined;
      if (!isGranted && wasDeletedWith(lane, dueAttempt)) return { lane, result: 'deleted' };
      // A queue that was deleted holds nothing back.
      if (!isThere(lane)) return { lane, result: 'in' };
      return enter(lane, arrivalOf(dueAttempt, 'queue'), time);
    });
  }

  const leaving = (key: LaneKey, entry: string): Slot => ({
    release: () => lanes.update(key, (lane) => leave(lane, entry)),
  });

  /** @param back for an attempt that has its slot of this key and has waited for its account since: when its start was counted */
  async function enterKey(
    dueAttempt: DueAttempt,
    back?: { readonly countedAt: number | undefined },
  ): Promise<CountedSlot | Refusal> {
    const { accountId, flowControl } = dueAttempt;
    if (flowControl === undefined) return { release: async () => {}, countedAt: now() };
    const { key, madeAt, ...limits } = flowControl;
    const lane = keyLane(accountId, key);
    const entry = formatEntry(dueAttempt);
    let countedAt = 0;
    const grant = await lanes.change(lane, (found, time) => {
      const after = withNewestLimits(found, limits, madeAt);
      const arrival = arrivalOf(dueAttempt, 'key');
      const changed =
        back === undefined ? enter(after, arrival, time) : resume(after, arrival, back.countedAt, time);
      // The start of an attempt that was granted its slot is counted at that time, not when its job came.
      countedAt = changed.lane.leases.get(entry)?.startAt ?? time;
      return changed;
    });
    if (grant !== 'in') return grant;
    // Clocks of processes differ: no process counts further ahead than this.
    const aheadMs = Math.min(longestStartWaitMs, countedAt - now());
    if (aheadMs > 0) await sleep(aheadMs);
    // Where the job comes again, its first delivery may have made the start that was counted.
    const unmadeAt = dueAttempt.isAgain ? undefined : countedAt;
    const giveBack = (): Promise<void> =>
      lanes.update(lane, (found) => uncountStart(leave(found, entry), unmadeAt));
    const keep = (until: number): Promise<void> =>
      lanes.update(lane, (found) => keepUntil(found, entry, until + leaseMarginMs));
    return { ...leaving(lane, entry), giveBack, keep, countedAt };
  }

  async function enterAccount(dueAttempt: DueAttempt): Promise<Slot | Refusal> {
    const { accountId, accountLimits, admittedTo } = dueAttempt;
    const lane = accountLane(accountId);
    // A slot of the process does not name its attempt: a job that comes again has to find out whether another stands for it.
    if (admittedTo?.lane !== 'account' && !dueAttempt.isAgain) {
      const slot = await slots.take(
        lane,
        (found) => withNewestLimits(found, accountLimits, accountLimits.version),
        accountLimits.parallelism,
      );
      if (slot !== undefined) return slot;
    }
    const grant = await lanes.change(lane, (found, time) =>
      enter(
        withNewestLimits(found, accountLimits, accountLimits.version),
        arrivalOf(dueAttempt, 'account'),
        time,
      ),
    );
    return grant === 'in' ? leaving(lane, formatEntry(dueAttempt)) : grant;
  }

  /** Goes back to the key with a slot of the account, which it gives back where the key has no capacity any more. */
  async function returnToKey(
    dueAttempt: DueAttempt,
    account: Slot,
    countedAt?: number,
  ): Promise<readonly AcquiredSlot[] | Refusal> {
    const key = await enterKey(dueAttempt, { countedAt });
    if (typeof key !== 'string') return [key, account];
    await account.release();
    return key;
  }

  /** Takes both slots, of the key and of the account. */
  async function enterBoth(dueAttempt: DueAttempt): Promise<readonly AcquiredSlot[] | Refusal> {
    const { flowControl, accountId, admittedTo } = dueAttempt;
    if (admittedTo?.lane === 'account') {
      const account = await enterAccount(dueAttempt);
      return typeof account === 'string' ? account : returnToKey(dueAttempt, account);
    }
    const key = await enterKey(dueAttempt);
    if (typeof key === 'string') return key;
    const keyEnteredAt = now();
    // Where the job comes again, its first delivery may have made the start that was counted.
    const countedAt = dueAttempt.isAgain ? undefined : key.countedAt;
    const account = await enterAccount(dueAttempt);
    if (typeof account !== 'string') {
      const isLate = flowControl?.rate !== undefined && now() - key.countedAt > startToleranceMs;
      // The request must end before the lease of its key does.
      const isShort = now() - keyEnteredAt > longestEntryMs;
      return isLate || isShort ? returnToKey(dueAttempt, account, countedAt) : [key, account];
    }
    if (account === 'waits' && flowControl !== undefined) {
      const until = now() + longestKeptMs;
      await lanes.update(keyLane(accountId, flowControl.key), (lane) =>
        keepWaiting(lane, formatEntry(dueAttempt), until, countedAt),
      );
    }
    return account;
  }

  /** Enters the circuit of its host, if one holds it back; `waits` in that line is `held`. */
  async function enterCircuit(dueAttempt: DueAttempt): Promise<CircuitPass | Refusal | undefined> {
    const { accountId, circuit, admittedTo } = dueAttempt;
    if (circuit === undefined) return undefined;
    const grant = await circuits.enter(accountId, circuit, admittedTo?.lane === 'circuit', () => ({
      ...arrivalOf(dueAttempt, 'circuit'),
      // An attempt that has waited has a slot of its key, or of its account, which others wait for.
      hasWaited: hasLaterSlots(dueAttempt),
    }));
    return grant === 'waits' ? 'held' : grant;
  }

  /**
   * Takes the slots of the circuit, the key and the account. An attempt from the line of its key or its account has a slot there
   * already: it takes that first, and gives it back where its circuit was opened meanwhile.
   */
  async function enterAll(
    dueAttempt: DueAttempt,
  ): Promise<
    { readonly circuit: CircuitPass | undefined; readonly slots: readonly AcquiredSlot[] } | Refusal
  > {
    if (hasLaterSlots(dueAttempt)) {
      const entered = await enterBoth(dueAttempt);
      if (typeof entered === 'string') return entered;
      const circuit = await enterCircuit(dueAttempt);
      if (typeof circuit !== 'string') return { circuit, slots: entered };
      await Promise.all(entered.map(giveSlotBack));
      return circuit;
    }
    const circuit = await enterCircuit(dueAttempt);
    if (typeof circuit === 'string') return circuit;
    const entered = await enterBoth(dueAttempt);
    if (typeof entered !== 'string') return { circuit, slots: entered };
    // While this attempt waits in a line, another may probe the host.
    await circuit?.leave({ says: 'nothing' });
    return entered;
  }

  return {
    /**
     * Takes a slot of each lane.
     *
     * @returns the slots that the attempt goes on with; or why it may not go on, and then its job may be dropped, unless it
     *   came `early`: then it has to come again
     */
    acquire: async (dueAttempt: DueAttempt): Promise<Acquired | Refusal> => {
      const queue = await enterQueue(dueAttempt);
      if (queue !== 'in') return queue;
      const entered = await enterAll(dueAttempt);
      if (typeof entered === 'string') return entered;
      const { circuit, slots: taken } = entered;
      let verdict: Verdict = { says: 'nothing' };
      let released: Promise<unknown> | undefined;
      const endRenewal = renewWhileMade(dueAttempt, { lanes, now, report });
      const leaveAll = async (leaveSlot: (slot: AcquiredSlot) => Promise<void>): Promise<void> => {
        endRenewal();
        released ??= Promise.all([...taken.map(leaveSlot), circuit?.leave(verdict)]);
        await released;
      };
      return {
        report: (said) => {
          verdict = said;
        },
        release: () => leaveAll((slot) => slot.release()),
        keep: (until) => leaveAll((slot) => slot.keep?.(until) ?? slot.release()),
        giveBack: () => leaveAll(giveSlotBack),
      };
    },

    /**
     * Ends a grant whose job is not needed any more.
     *
     * @param reason `goesOn` leaves a message the slot of its queue, and ends all others
     * @returns false where the grant is not written yet: the job has to come again
     */
    decline: async (
      granted: Entry & { readonly accountId: string; readonly admittedTo: AdmittedTo },
      reason: DeclineReason,
    ): Promise<boolean> => {
      const { accountId, admittedTo } = granted;
      const { lane: kind, name, ticket, sentAt } = admittedTo;
      const reasonHere = kind !== 'queue' && reason === 'goesOn' ? 'over' : reason;
      const outcome = await lanes.change({ accountId, kind, name }, (lane, time) =>
        endGrant(lane, formatEntry(granted), ticket, reasonHere, time),
      );
      return outcome === 'left' || now() - sentAt > youngMs;
    },

    /** Frees the slots of an attempt whose worker died after it had recorded the attempt. */
    leaveAgain: async (
      attempt: Entry & {
        readonly accountId: string;
        readonly key: string | undefined;
        /** The host of the circuit that it entered, if any. */
        readonly host: string | undefined;
      },
    ): Promise<void> => {
      const { accountId, key, host } = attempt;
      const all = [
        accountLane(accountId),
        ...(key === undefined ? [] : [keyLane(accountId, key)]),
        ...(host === undefined ? [] : [circuitLane(accountId, host)]),
      ];
      await Promise.all(all.map((lane) => leaving(lane, formatEntry(attempt)).release()));
    },

    /**
     * Has an attempt wait for its account, which is not served: the account's lane is paused until it is resumed. Before that the
     * attempt takes its place in its queue, if it has one.
     *
     * @returns the reason why it may not go on
     */
    waitForAccount: async (dueAttempt: DueAttempt): Promise<Refusal> => {
      const queue = await enterQueue(dueAttempt);
      if (queue !== 'in') return queue;
      const { accountId, admittedTo } = dueAttempt;
      await lanes.update(accountLane(accountId), (lane) => ({
        ...joinLine(lane, formatEntry(dueAttempt), dueAttempt.turn),
        isPaused: true,
      }));
      if (admittedTo?.lane === 'circuit') {
        await leaving(circuitLane(accountId, admittedTo.name), formatEntry(dueAttempt)).release();
      }
      return 'waits';
    },
  };
}
