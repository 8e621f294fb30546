/**
 * A lane limits how many attempts are in flight, and how many start in a period. A paused lane starts none.
 * Attempts without capacity wait in the lane's line, in order of arrival.
 *
 * This file defines a lane's state and limits, `rules` the events that change it; neither does any input or
 * output. `slots/changeLanes.ts` reads lanes, applies these functions, and writes the result.
 */
import { heldAtOnce, isOpen, type Circuit } from '../circuit/circuit.ts';
import { clockMarginMs, dayMs, secondMs } from '../shared/clock.ts';
import type { LaneKind } from '../job/job.ts';
import type { FlowControl } from '../value/flowControl.ts';
import type { FairLine } from './rules/fairLine.ts';
import { type Line, emptyLine, isEmpty, lengthOf } from './rules/line.ts';
import { type Starts, freeStarts, recentStarts } from './rules/rate.ts';

export interface LaneKey {
  readonly accountId: string;
  readonly kind: LaneKind;
  readonly name: string;
}

export const queueLane = (accountId: string, name: string): LaneKey => ({ accountId, kind: 'queue', name });
export const keyLane = (accountId: string, name: string): LaneKey => ({ accountId, kind: 'key', name });
export const accountLane = (accountId: string): LaneKey => ({ accountId, kind: 'account', name: '' });
export const circuitLane = (accountId: string, host: string): LaneKey => ({
  accountId,
  kind: 'circuit',
  name: host,
});
export const holdLane = (accountId: string, name: string): LaneKey => ({ accountId, kind: 'hold', name });

/**
 * Keys of leases begin with this if a process holds them. Other leases belong to attempts, or to messages of
 * a queue.
 */
export const processPrefix = 'process#';

/** How long a process leases slots. */
export const processLeaseMs = 70 * secondMs;

export interface Lease {
  readonly slots: number;
  /** Unix milliseconds. Undefined if the lease ends only with its message. */
  readonly until?: number | undefined;
  /** When its start was counted. Undefined if it was not counted. */
  readonly startAt?: number | undefined;
  readonly ticket?: string | undefined;
  /** Unfinished callbacks of a queue's message, which keeps its slot for them. */
  readonly callbacks?: readonly string[] | undefined;
  /** Whether the message has ended. Its callbacks may be unfinished. */
  readonly isOver?: boolean | undefined;
}

export interface Limits {
  readonly parallelism?: number | undefined;
  /** The most starts in any `periodMs`. */
  readonly rate?: number | undefined;
  readonly periodMs?: number | undefined;
}

/** Times are. */
export interface Hold {
  /** The token that last changed the hold, as in the audit trail. */
  readonly by: string;
  readonly since: number;
  readonly reason?: string | undefined;
  /** When the hold expires. */
  readonly until?: number | undefined;
  /** The version of the account's row that lists this hold. */
  readonly version: number;
}

export interface DeletedLine {
  readonly entries: readonly string[];
  readonly firstPage: number;
  readonly nextPage: number;
}

export interface DeletedFairLine {
  readonly fair: FairLine;
  /** Messages before this place are cancelled; undefined before the first. */
  readonly from?: string | undefined;
}

export interface Lane extends LaneKey, Limits {
  /** When the message that set these limits was created. Older messages do not change them. */
  readonly limitsMadeAt: number;
  readonly isPinnedParallelism: boolean;
  readonly isPinnedRate: boolean;
  readonly isPaused: boolean;
  /** Whether a queue's messages wait while their host is down. Undefined if the account decides. */
  readonly isCircuitOn?: boolean | undefined;
  /** By the entry of an attempt (`entry.ts`), or by process. */
  readonly leases: ReadonlyMap<string, Lease>;
  /** The starts of the last period, and those counted before they are made, oldest first. */
  readonly starts: readonly Starts[];
  readonly line: Line;
  /** The waiting messages with a fair key or a priority, if any. */
  readonly fair?: FairLine | undefined;
  /** The number of cancelled entries in the line's pages. Each is dropped when its turn comes. */
  readonly cancelled: number;
  /** When the next pump is scheduled; a past time if no pump is. */
  readonly pumpAt: number;
  /**
   * The same for the next pump that extends the lifetimes of waiting messages.
   */
  readonly keepAt: number;
  /**
   * The row of an unused key or deleted queue is kept until then, because a delayed message may name it. 0 if there is no such time.
   */
  readonly keptUntil: number;
  readonly isDeleted: boolean;
  /** When the queue was last deleted. Kept if the queue is created again. */
  readonly deletedAt?: number | undefined;
  /** Lines of a deleted queue, with messages that are still to be cancelled. */
  readonly deletedLines: readonly DeletedLine[];
  readonly deletedFairLines: readonly DeletedFairLine[];
  /** How many attempts waited in a queue or key in each of the last hours: see `rules/depths.ts`. */
  readonly depths?: string | undefined;
  readonly circuit?: Circuit | undefined;
  /** Set only while deliveries are held. The lane is paused then. */
  readonly hold?: Hold | undefined;
  readonly createdAt: number;
  /** When its settings last changed. */
  readonly updatedAt: number;
  /** Incremented by each write; 0 if the lane is not in the table. */
  readonly version: number;
}

export const newLane = (key: LaneKey, now: number, limits: Limits = {}): Lane => ({
  ...key,
  ...limits,
  limitsMadeAt: 0,
  isPinnedParallelism: false,
  isPinnedRate: false,
  isPaused: false,
  leases: new Map(),
  starts: [],
  line: emptyLine,
  cancelled: 0,
  pumpAt: 0,
  keepAt: 0,
  keptUntil: 0,
  isDeleted: false,
  deletedLines: [],
  deletedFairLines: [],
  createdAt: now,
  updatedAt: now,
  version: 0,
});

export const waitingIn = ({ line, fair, cancelled }: Lane): number =>
  Math.max(0, lengthOf(line) + (fair?.waiting ?? 0) - cancelled);

export const isLineEmpty = ({ line, fair }: Lane): boolean => fair === undefined && isEmpty(line);

export const hasDeletedLines = ({ deletedLines, deletedFairLines }: Lane): boolean =>
  deletedLines.length + deletedFairLines.length > 0;

export const isThere = ({ version, isDeleted }: Lane): boolean => version > 0 && !isDeleted;

/** Creates a queue, with a parallelism of 1, if it is missing. */
export const asQueue = (lane: Lane, now: number): Lane =>
  isThere(lane)
    ? lane
    : {
        ...lane,
        parallelism: 1,
        isCircuitOn: undefined,
        isDeleted: false,
        createdAt: now,
        updatedAt: now,
      };

export const slotsInUse = ({ leases }: Lane, now: number): number =>
  [...leases.values()].reduce(
    (sum, { slots, until }) => sum + (until === undefined || until > now ? slots : 0),
    0,
  );

/**
 * Counts the attempts that have a slot. In a queue, counts messages, without those that only wait for
 * callbacks.
 */
export const inFlightIn = ({ leases }: Lane): number =>
  [...leases.values()].filter(({ isOver }) => isOver !== true).length;

export const slotsOf = ({ circuit, parallelism }: Lane, now: number): number | undefined =>
  circuit === undefined ? parallelism : heldAtOnce(circuit, now);

export const freeSlots = (lane: Lane, now: number): number =>
  Math.max(0, (slotsOf(lane, now) ?? Infinity) - slotsInUse(lane, now));

/** Whether the lane is paused, its circuit is open, it has a hold, or attempts wait in its line. */
export const holdsBack = (lane: Lane): boolean =>
  lane.isPaused || (lane.circuit !== undefined && isOpen(lane.circuit)) || !isLineEmpty(lane);

/** A lease has about 90 bytes. This many leave room for the rest of a 400 KB row. */
export const mostLeases = 2_000;

export const hasCapacity = (lane: Lane, now: number): boolean =>
  !lane.isPaused && lane.leases.size < mostLeases && freeSlots(lane, now) > 0 && freeStarts(lane, now) > 0;

export function pruned(lane: Lane, now: number): Lane {
  const leases = [...lane.leases].filter(([, { until }]) => until === undefined || until > now);
  const starts = recentStarts(lane, now);
  const cancelled = isLineEmpty(lane) ? 0 : lane.cancelled;
  if (
    leases.length === lane.leases.size &&
    starts.length === lane.starts.length &&
    cancelled === lane.cancelled
  ) {
    return lane;
  }
  return { ...lane, leases: new Map(leases), starts, cancelled };
}

/** Whether a lease is still valid for a process whose clock differs. */
export const isLasting = ({ until }: Lease, now: number): boolean =>
  until === undefined || until > now + clockMarginMs;

export function withLease(lane: Lane, holder: string, lease: Lease | undefined): Lane {
  const leases = new Map(lane.leases);
  if (lease === undefined) leases.delete(holder);
  else leases.set(holder, lease);
  return { ...lane, leases };
}

export interface Changed<T> {
  readonly lane: Lane;
  readonly result: T;
}

/**
 * Sets the number of slots that a process has leased.
 *
 * @returns the slots it gets: fewer if there is no capacity, or if attempts wait
 */
export function leaseTo(
  lane: Lane,
  { process, slots, until }: { readonly process: string; readonly slots: number; readonly until: number },
  now: number,
): Changed<number> {
  const has = lane.leases.get(process)?.slots ?? 0;
  const free = lane.isPaused || !isLineEmpty(lane) ? 0 : freeSlots(lane, now);
  const granted = Math.min(slots, has + free);
  const isRefused = granted === has && slots > has;
  if (isRefused || (granted === 0 && has === 0)) return { lane, result: granted };
  return {
    lane: withLease(lane, process, granted === 0 ? undefined : { slots: granted, until }),
    result: granted,
  };
}

export const limitsOfKey = ({ parallelism, rate, period }: Omit<FlowControl, 'key'>): Limits => ({
  parallelism,
  rate,
  periodMs: period && period * secondMs,
});

/**
 * A key's lifetime is extended in steps, so that only a few messages that are due in the far future cause a
 * write.
 */
const extensionStepMs = 30 * dayMs;

/** Keeps an unused key at least until a time. */
export const keptUntilAtLeast = (lane: Lane, until: number): Lane =>
  lane.keptUntil >= until
    ? lane
    : { ...lane, keptUntil: Math.ceil(until / extensionStepMs) * extensionStepMs };

const isSame = (one: Limits, other: Limits): boolean =>
  one.parallelism === other.parallelism && one.rate === other.rate && one.periodMs === other.periodMs;

export function withLimits(lane: Lane, { parallelism, rate, periodMs }: Limits): Lane {
  const limits = { parallelism, rate, periodMs };
  return isSame(lane, limits) ? lane : { ...lane, ...limits };
}

/**
 * Sets the limits of the newest message, except pinned ones.
 *
 * @param madeAt when the message was created; or another number that grows
 */
export function withNewestLimits(lane: Lane, limits: Limits, madeAt: number): Lane {
  if (madeAt < lane.limitsMadeAt) return lane;
  const { parallelism } = lane.isPinnedParallelism ? lane : limits;
  const { rate, periodMs } = lane.isPinnedRate ? lane : limits;
  const after = withLimits(lane, { parallelism, rate, periodMs });
  // Equal limits are also noted as the newest, so that an older message cannot change them.
  return after === lane && madeAt === lane.limitsMadeAt ? lane : { ...after, limitsMadeAt: madeAt };
}
