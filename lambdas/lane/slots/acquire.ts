/**
 * An attempt enters its lanes in this order: queue, holds, circuit of its host, flow-control key, account. It
 * takes a slot of each, and waits in the line of the first lane without capacity. It keeps its slots while it
 * waits, except those of holds and circuit. The fixed order prevents deadlocks.
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
  holdLane,
  isThere,
  keyLane,
  queueLane,
  withNewestLimits,
  type LaneKey,
} from '../lane.ts';
import type { AdmittedTo } from '../../job/job.ts';
import { isGrantOfDeleted, wasDeletedWith } from '../rules/cancelling.ts';
import { leave, endGrant, type DeclineReason } from '../rules/leaving.ts';
import type { Verdict } from '../../circuit/verdict.ts';
import { dayMs, isRecent } from '../../shared/clock.ts';
import { startToleranceMs, uncountStart } from '../rules/rate.ts';
import type { CircuitPass, Circuits } from './circuitView.ts';
import {
  hasEnteredQueue,
  hasLaterSlots,
  holdingLanesOf,
  isGrantedBy,
  youngMs,
  type DueAttempt,
} from './dueAttempt.ts';
import type { createProcessSlots, Slot } from './processSlots.ts';
import { renewWhileMade, type RenewalParts } from './renewal.ts';

export interface Acquired {
  /** Reports the attempt's verdict about its host. Call it before the slots are released. */
  readonly report: (verdict: Verdict) => void;
  /** Must be called when the request is over. The message keeps its queue's slot. */
  readonly release: () => Promise<void>;
  /** Replaces `release` for an attempt that stays open until a time. It keeps its key's slot. */
  readonly keep: (until: number) => Promise<void>;
  /** Replaces `release` if no request was made, which does not count for the key's rate. */
  readonly giveBack: () => Promise<void>;
}

interface LaneGateParts extends RenewalParts {
  readonly slots: Pick<ReturnType<typeof createProcessSlots>, 'take'>;
  readonly circuits: Circuits;
  readonly sleep: (ms: number) => Promise<void>;
}

/** How long an attempt that waits for its account keeps its key's slot. */
const longestKeptMs = dayMs;

/** If entering the account takes longer, the lease of the key's slot is extended. */
const longestEntryMs = leaseMarginMs / 2;

/**
 * Why an attempt may not continue.
 *
 * - `held`: it waits in the line of a hold or of its circuit.
 * - `overdue`: it waited there too long and must fail.
 * - `deleted`: its queue was deleted during its message's delay, so it is cancelled.
 */
export type Refusal = Exclude<Grant, 'in'> | 'held' | 'overdue' | 'deleted';

interface AcquiredSlot extends Slot {
  readonly giveBack?: () => Promise<void>;
  /** If undefined, an attempt that stays open releases the slot. */
  readonly keep?: (until: number) => Promise<void>;
}

const giveSlotBack = (slot: AcquiredSlot): Promise<void> => (slot.giveBack ?? slot.release)();

interface CountedSlot extends AcquiredSlot {
  readonly countedAt: number;
}

export function createLaneGate({ lanes, slots, circuits, now, sleep, report }: LaneGateParts) {
  /** Must run during the lane's change: the lease starts then, and retries may delay the change. */
  const arrivalOf = (dueAttempt: DueAttempt, key: LaneKey) => {
    const { admittedTo, timeoutMs } = dueAttempt;
    const { kind } = key;
    return {
      entry: formatEntry(dueAttempt),
      turn: kind === 'circuit' || kind === 'hold' ? undefined : dueAttempt.turn,
      ticket: isGrantedBy(key, admittedTo) ? admittedTo?.ticket : undefined,
      isYoung: admittedTo !== undefined && isRecent(admittedTo.sentAt, youngMs, now()),
      until: kind === 'queue' ? undefined : endOfAttempt(timeoutMs, now()),
      hasWaited: false,
      mayHaveStarted: dueAttempt.isAgain,
    };
  };

  /** A message keeps its slot until it is over, so its retries pass. */
  async function enterQueue(dueAttempt: DueAttempt): Promise<Grant | 'deleted'> {
    const { accountId, queueName } = dueAttempt;
    if (queueName === undefined || hasEnteredQueue(dueAttempt)) return 'in';
    const key = queueLane(accountId, queueName);
    return lanes.change<Grant | 'deleted'>(key, (lane, time) => {
      const { admittedTo } = dueAttempt;
      if (admittedTo === undefined && wasDeletedWith(lane, dueAttempt)) return { lane, result: 'deleted' };
      // A deleted queue holds no message back, even if it was created again.
      if (!isThere(lane) || isGrantOfDeleted(lane, formatEntry(dueAttempt), admittedTo)) {
        return { lane, result: 'in' };
      }
      return enter(lane, arrivalOf(dueAttempt, key), time);
    });
  }

  const leaving = (key: LaneKey, entry: string): Slot => ({
    release: () => lanes.update(key, (lane) => leave(lane, entry)),
  });

  /** @param back when the start was counted, if the attempt waited for its account with a slot of this key */
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
      const arrival = arrivalOf(dueAttempt, lane);
      const changed =
        back === undefined ? enter(after, arrival, time) : resume(after, arrival, back.countedAt, time);
      // If the slot was granted, its start was already counted then.
      countedAt = changed.lane.leases.get(entry)?.startAt ?? time;
      return changed;
    });
    if (grant !== 'in') return grant;
    // No process counts a start further ahead than this. A longer wait means that clocks differ.
    const aheadMs = Math.min(longestStartWaitMs, countedAt - now());
    if (aheadMs > 0) await sleep(aheadMs);
    // If the job is redelivered, its first delivery may have made this start.
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
    // A process's slot has no attempt. So a redelivered job asks the lane whether another job has the
    // attempt.
    if (admittedTo?.lane !== 'account' && !dueAttempt.isAgain) {
      const slot = await slots.take(
        lane,
        (found) => withNewestLimits(found, accountLimits, accountLimits.version),
        accountLimits.parallelism,
      );
      if (slot !== undefined) return slot;
    }
    const grant = await lanes.change(lane, (found, time) =>
      enter(withNewestLimits(found, accountLimits, accountLimits.version), arrivalOf(dueAttempt, lane), time),
    );
    return grant === 'in' ? leaving(lane, formatEntry(dueAttempt)) : grant;
  }

  /** Enters the key with a slot of the account, which is freed if the key has no capacity. */
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

  async function enterBoth(dueAttempt: DueAttempt): Promise<readonly AcquiredSlot[] | Refusal> {
    const { flowControl, accountId, admittedTo } = dueAttempt;
    if (admittedTo?.lane === 'account') {
      const account = await enterAccount(dueAttempt);
      return typeof account === 'string' ? account : returnToKey(dueAttempt, account);
    }
    const key = await enterKey(dueAttempt);
    if (typeof key === 'string') return key;
    const keyEnteredAt = now();
    const countedAt = dueAttempt.isAgain ? undefined : key.countedAt;
    const account = await enterAccount(dueAttempt);
    if (typeof account !== 'string') {
      const isLate = flowControl?.rate !== undefined && now() - key.countedAt > startToleranceMs;
      // The request must end before the lease of its key's slot.
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

  /** Enters the lanes of the attempt's holds and circuit, if any. Returns `held` instead of `waits`. */
  async function enterCircuit(dueAttempt: DueAttempt): Promise<CircuitPass | Refusal> {
    const all = holdingLanesOf(dueAttempt);
    const granted = all.find(([key]) => isGrantedBy(key, dueAttempt.admittedTo))?.[0];
    const passes: CircuitPass[] = [];
    const leaveAll = async (verdict: Verdict) => {
      await Promise.all(passes.map((pass) => pass.leave(verdict)));
    };
    for (const [key, rules] of all) {
      const grant = await circuits.enter(key, rules, key === granted, () => ({
        ...arrivalOf(dueAttempt, key),
        // The attempt has a slot of another lane, which it would block by waiting here.
        hasWaited: hasLaterSlots(dueAttempt) || (granted !== undefined && granted !== key),
      }));
      if (typeof grant === 'string') {
        await leaveAll({ says: 'nothing' });
        if (granted && granted !== key) await leaving(granted, formatEntry(dueAttempt)).release();
        return grant === 'waits' ? 'held' : grant;
      }
      passes.push(grant);
    }
    return { leave: leaveAll };
  }

  /**
   * Takes slots of the circuit, key and account. An attempt that waited for its key or account takes the slot
   * granted there first, and frees it if the circuit has opened.
   */
  async function enterAll(
    dueAttempt: DueAttempt,
  ): Promise<{ readonly circuit: CircuitPass; readonly slots: readonly AcquiredSlot[] } | Refusal> {
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
    // Lets another attempt probe the host while this one waits.
    await circuit.leave({ says: 'nothing' });
    return entered;
  }

  return {
    /**
     * @returns the slots, or a refusal. If it is `early`, the job must be sent again
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
        released ??= Promise.all([...taken.map(leaveSlot), circuit.leave(verdict)]);
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
     * Frees a granted slot that its attempt does not need.
     *
     * @param reason if `goesOn`, the message keeps its queue's slot
     * @returns false if the grant is not written yet; the job must be sent again
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
      return outcome === 'left' || !isRecent(sentAt, youngMs, now());
    },

    leaveAgain: async (
      attempt: Entry & {
        readonly accountId: string;
        readonly key: string | undefined;
        readonly host: string | undefined;
        readonly holds?: readonly string[] | undefined;
      },
    ): Promise<void> => {
      const { accountId, key, host, holds = [] } = attempt;
      const all = [
        accountLane(accountId),
        ...(key === undefined ? [] : [keyLane(accountId, key)]),
        ...(host === undefined ? [] : [circuitLane(accountId, host)]),
        ...holds.map((name) => holdLane(accountId, name)),
      ];
      await Promise.all(all.map((lane) => leaving(lane, formatEntry(attempt)).release()));
    },

    /**
     * Makes an attempt enter its queue, and then wait for its account.
     *
     * @returns why it may not continue
     */
    waitForAccount: async (dueAttempt: DueAttempt): Promise<Refusal> => {
      const queue = await enterQueue(dueAttempt);
      if (queue !== 'in') return queue;
      const { accountId, admittedTo } = dueAttempt;
      await lanes.update(accountLane(accountId), (lane) => ({
        ...joinLine(lane, formatEntry(dueAttempt), dueAttempt.turn),
        isPaused: true,
      }));
      if (admittedTo?.lane === 'circuit' || admittedTo?.lane === 'hold') {
        const key = { accountId, kind: admittedTo.lane, name: admittedTo.name };
        await leaving(key, formatEntry(dueAttempt)).release();
      }
      return 'waits';
    },
  };
}
