/**
 * A lane holds attempts back: it limits those in flight at once, and the starts in a period, and lets none go while it is paused.
 * Attempts that find no capacity wait in the lane's line, in the order in which they came.
 *
 * This file has the state of a lane, and its limits; `rules` has the things that can happen to it. Both are without I/O: each
 * function takes a lane and returns another. `slots/lanes.ts` reads lanes, applies such functions, and writes the result on
 * condition that nobody else wrote meanwhile.
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
  /** Empty where an account has but one lane of its kind. */
  readonly name: string;
}

export const queueLane = (accountId: string, name: string): LaneKey => ({ accountId, kind: 'queue', name });
export const keyLane = (accountId: string, name: string): LaneKey => ({ accountId, kind: 'key', name });
export const accountLane = (accountId: string): LaneKey => ({ accountId, kind: 'account', name: '' });
/** @param host as `circuitHostOf` has it */
export const circuitLane = (accountId: string, host: string): LaneKey => ({
  accountId,
  kind: 'circuit',
  name: host,
});

/** The names of processes as holders of leases begin with this. All other holders are attempts, or messages in a queue. */
export const processPrefix = 'process#';

/** A right to some of a lane's slots. */
export interface Lease {
  readonly slots: number;
  /** Unix milliseconds; undefined for a lease that ends with its message only. */
  readonly until?: number | undefined;
  /** When its start was counted, Unix milliseconds; undefined where it was not, or there is no rate. */
  readonly startAt?: number | undefined;
  /** Tells the job that was sent for this lease from jobs that were sent for others. */
  readonly ticket?: string | undefined;
  /** The callbacks of a queue's message that are not over: the message keeps its slot for them. */
  readonly callbacks?: readonly string[] | undefined;
  /** The message itself is over; only its callbacks are not. */
  readonly isOver?: boolean | undefined;
}

export interface Limits {
  /** Attempts in flight at once. */
  readonly parallelism?: number | undefined;
  /** Starts within any span of `periodMs`. */
  readonly rate?: number | undefined;
  readonly periodMs?: number | undefined;
}

/** A line that was deleted with its queue. Its messages are being cancelled. */
export interface DeletedLine {
  readonly entries: readonly string[];
  readonly firstPage: number;
  readonly nextPage: number;
}

/** A fair line that was deleted with its queue. */
export interface DeletedFairLine {
  readonly fair: FairLine;
  /** The place up to which its messages were cancelled; undefined for its beginning. */
  readonly from?: string | undefined;
}

export interface Lane extends LaneKey, Limits {
  /** When the message was made whose limits these are, Unix milliseconds: an older message does not change them. */
  readonly limitsMadeAt: number;
  readonly isPinnedParallelism: boolean;
  readonly isPinnedRate: boolean;
  readonly isPaused: boolean;
  /** Whether a queue's messages wait while their host is down; undefined where their account decides it. */
  readonly isCircuitOn?: boolean | undefined;
  /** By entry (`entry.ts`), or by process. */
  readonly leases: ReadonlyMap<string, Lease>;
  /** The starts of the last period, and those that are counted ahead; the oldest first. */
  readonly starts: readonly Starts[];
  readonly line: Line;
  /** The line of messages with a fair key or a priority; undefined where none of them waits. */
  readonly fair?: FairLine | undefined;
  /** Entries of the line's pages that were cancelled: they leave when it is their turn. */
  readonly cancelled: number;
  /** Unix milliseconds at which a pump comes; in the past where none is on its way. */
  readonly pumpAt: number;
  /** Unix milliseconds at which a pump extends the lifetimes of the messages in the line; in the past where none is on its way. */
  readonly keepAt: number;
  /**
   * Unix milliseconds before which the row of an unused flow-control key, or of a deleted queue, does not expire: a delayed message
   * may still name it. 0 where none does.
   */
  readonly keptUntil: number;
  /** Whether the queue was deleted, and not made again. */
  readonly isDeleted: boolean;
  /** When the queue was last deleted, Unix milliseconds. A queue that is made again keeps it. */
  readonly deletedAt?: number | undefined;
  /** The lines of a deleted queue whose messages are not all cancelled yet. */
  readonly deletedLines: readonly DeletedLine[];
  readonly deletedFairLines: readonly DeletedFairLine[];
  /** How many waited in a queue or key in its last hours; undefined where nobody did. `rules/depths.ts` reads and writes it. */
  readonly depths?: string | undefined;
  /** The state of the circuit; only the lane of a circuit has one. */
  readonly circuit?: Circuit | undefined;
  readonly createdAt: number;
  /** When its settings were changed last, Unix milliseconds. */
  readonly updatedAt: number;
  /** Raised by each write; 0 for a lane that is not in the table. */
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

/** Counts the attempts that wait in a lane. */
export const waitingIn = ({ line, fair, cancelled }: Lane): number =>
  Math.max(0, lengthOf(line) + (fair?.waiting ?? 0) - cancelled);

/** Whether nothing waits in a lane. */
export const isLineEmpty = ({ line, fair }: Lane): boolean => fair === undefined && isEmpty(line);

/** Whether the messages of a deleted queue are not all cancelled yet. */
export const hasDeletedLines = ({ deletedLines, deletedFairLines }: Lane): boolean =>
  deletedLines.length + deletedFairLines.length > 0;

/** Whether a lane was made, and not deleted. */
export const isThere = ({ version, isDeleted }: Lane): boolean => version > 0 && !isDeleted;

/** Makes the lane of a queue that is not there, with a parallelism of 1; a queue that is there stays as it is. */
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

/** Counts attempts, or messages of a queue, that have a slot. A message that is over and waits for its callbacks does not count. */
export const inFlightIn = ({ leases }: Lane): number =>
  [...leases.values()].filter(({ isOver }) => isOver !== true).length;

/** The slots of a lane; undefined without a limit. */
export const slotsOf = ({ circuit, parallelism }: Lane, now: number): number | undefined =>
  circuit === undefined ? parallelism : heldAtOnce(circuit, now);

/** Slots that are free; Infinity without a limit. */
export const freeSlots = (lane: Lane, now: number): number =>
  Math.max(0, (slotsOf(lane, now) ?? Infinity) - slotsInUse(lane, now));

/** Whether a circuit's lane holds attempts back: it is open, or those that waited have not all been let go. */
export const holdsBack = (lane: Lane): boolean =>
  (lane.circuit !== undefined && isOpen(lane.circuit)) || !isLineEmpty(lane);

/** A row has 400 KB: with so many leases, of some 90 bytes each, all else still fits in. */
export const mostLeases = 2_000;

export const hasCapacity = (lane: Lane, now: number): boolean =>
  !lane.isPaused && lane.leases.size < mostLeases && freeSlots(lane, now) > 0 && freeStarts(lane, now) > 0;

/** Removes the leases that have ended and the starts that no longer count. */
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

/** Whether an attempt keeps its lease whatever another process is about to write: nobody else gets the slot while it lasts. */
export const isLasting = ({ until }: Lease, now: number): boolean =>
  until === undefined || until > now + clockMarginMs;

export function withLease(lane: Lane, holder: string, lease: Lease | undefined): Lane {
  const leases = new Map(lane.leases);
  if (lease === undefined) leases.delete(holder);
  else leases.set(holder, lease);
  return { ...lane, leases };
}

/** A lane after a change, and the result of the change. */
export interface Changed<T> {
  readonly lane: Lane;
  readonly result: T;
}

/**
 * Sets the number of slots that a process has.
 *
 * @returns the slots that it has: fewer than it wants where there is no capacity, or where others wait
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

/** The limits of a lane, as a message names them for its key. */
export const limitsOfKey = ({ parallelism, rate, period }: Omit<FlowControl, 'key'>): Limits => ({
  parallelism,
  rate,
  periodMs: period && period * secondMs,
});

/** The lifetime of a key is extended for messages of the far future in steps of this length, so that not each of them writes its lane. */
const extensionStepMs = 30 * dayMs;

/** Keeps an unused key from being forgotten before a moment, Unix milliseconds. */
export const keptUntilAtLeast = (lane: Lane, until: number): Lane =>
  lane.keptUntil >= until
    ? lane
    : { ...lane, keptUntil: Math.ceil(until / extensionStepMs) * extensionStepMs };

const isSame = (one: Limits, other: Limits): boolean =>
  one.parallelism === other.parallelism && one.rate === other.rate && one.periodMs === other.periodMs;

/** Sets limits, pinned or not. */
export function withLimits(lane: Lane, { parallelism, rate, periodMs }: Limits): Lane {
  const limits = { parallelism, rate, periodMs };
  return isSame(lane, limits) ? lane : { ...lane, ...limits };
}

/**
 * Sets limits as the newest message has them; pinned ones stay.
 *
 * @param madeAt when the message was made, Unix milliseconds; or another number that grows with each change
 */
export function withNewestLimits(lane: Lane, limits: Limits, madeAt: number): Lane {
  if (madeAt < lane.limitsMadeAt) return lane;
  const { parallelism } = lane.isPinnedParallelism ? lane : limits;
  const { rate, periodMs } = lane.isPinnedRate ? lane : limits;
  const after = withLimits(lane, { parallelism, rate, periodMs });
  // Noted also where the limits are the same: a message that was made before this one, and comes later, does not change them.
  return after === lane && madeAt === lane.limitsMadeAt ? lane : { ...after, limitsMadeAt: madeAt };
}
