/**
 * Changes lanes. A process combines concurrent changes of a lane into one conditional write. After a conflict
 * they are applied to the newer row.
 *
 * A job is sent before the lane with its grant is written, so a grant always has a job. If the process dies
 * in between, the job has no grant, which is harmless ({@link Grant} `early`).
 */
import { randomBytes } from 'node:crypto';
import { formatEntry } from '../rules/entry.ts';
import { isLineEmpty, newLane, waitingIn, type Lane, type LaneKey, type Changed } from '../lane.ts';
import { nextCheckAt } from '../rules/checks.ts';
import { withDepth } from '../rules/depths.ts';
import { dayMs } from '../../shared/clock.ts';
import { TransientError } from '../../error/transientError.ts';
import { countLargest } from '../../aws/metrics.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';
import { pauseAmongMany } from '../../aws/retryOnConflict.ts';
import { applyChanges, type Granted, type PendingChange } from './applyChanges.ts';
import { pageName, spillLane } from './lineRows.ts';
import type { LaneStore } from './laneStore.ts';

interface JobSender {
  readonly sendGranted: (key: LaneKey, granted: readonly Granted[]) => Promise<void>;
  /**
   * @param dueAt Unix milliseconds
   * @param extendsLine whether it also extends the lifetimes of waiting messages
   */
  readonly sendPump: (key: LaneKey, dueAt: number, extendsLine: boolean) => Promise<void>;
}

interface LaneParts {
  readonly store: LaneStore;
  readonly jobs: JobSender;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

type LaneChange<T> = (lane: Lane, now: number) => Changed<T>;

export interface Lanes {
  /**
   * Makes a change, then grants free slots to the line. Creates a missing lane.
   *
   * @throws LaneBusy after too many conflicts
   */
  readonly change: <T>(key: LaneKey, change: LaneChange<T>) => Promise<T>;
  readonly update: (key: LaneKey, to: (lane: Lane) => Lane) => Promise<void>;
}

/** There were too many conflicts. The change may be retried later. */
export class LaneBusy extends TransientError {
  override readonly name = 'LaneBusy';
}

/** With growing pauses, these take four seconds if the table answers in 5 ms. */
const mostTries = 24;
const longestPauseInTurns = 32;
/** No try starts later than this: an API request times out after 28 s, and has other work. */
const longestCommitMs = 8_000;

/**
 * A lane is read again if the process has read or written it longer ago than this. If the remembered lane is
 * outdated, the write fails.
 */
const freshMs = 50;

/** How much later than a check its pump may run. */
const pumpSlackMs = 20;

/** Whether the scheduled pump is in time for a check. */
const isPumpDue = (pumpAt: number, checkAt: number, now: number): boolean =>
  pumpAt > now && pumpAt <= checkAt + pumpSlackMs;

/** A line whose entries wait longer than this is checked at this interval. */
export const extendEveryMs = 3 * dayMs;

/** Each change may add 100 entries of 34 bytes, and a row has 400 KB. */
const mostAtOnce = 50;

interface Known {
  readonly pending: PendingChange[];
  isBusy: boolean;
  lane: Lane | undefined;
  knownAt: number;
}

const nameOf = ({ accountId, kind, name }: LaneKey): string => `${accountId} ${kind} ${name}`;

export function createLanes({ store, jobs, now, sleep, random }: LaneParts): Lanes {
  const all = new Map<string, Known>();

  const knownOf = (key: LaneKey): Known =>
    recentlyUsed(
      all,
      nameOf(key),
      () => ({ pending: [], isBusy: false, lane: undefined, knownAt: 0 }),
      ({ isBusy, pending }) => !isBusy && pending.length === 0,
    );

  function pumpsOf(key: LaneKey) {
    const sent = { pumpAt: 0, keepAt: 0 };
    return async (lane: Lane, time: number): Promise<Lane> => {
      let after = lane;
      const checkAt = nextCheckAt(lane, time);
      if (checkAt !== undefined && !isPumpDue(lane.pumpAt, checkAt, time)) {
        if (!isPumpDue(sent.pumpAt, checkAt, time)) {
          await jobs.sendPump(key, checkAt, false);
          sent.pumpAt = checkAt;
        }
        after = { ...after, pumpAt: sent.pumpAt };
      }
      if (!isLineEmpty(lane) && lane.keepAt <= time) {
        if (sent.keepAt === 0) {
          await jobs.sendPump(key, time + extendEveryMs, true);
          sent.keepAt = time + extendEveryMs;
        }
        after = { ...after, keepAt: sent.keepAt };
      }
      return after;
    };
  }

  /**
   * Retries changes until a write succeeds.
   *
   * @returns how many were written; not all if many need places in a fair line
   */
  async function commit(key: LaneKey, known: Known, changes: readonly PendingChange[]): Promise<number> {
    const ticket = randomBytes(6).toString('base64url');
    // Jobs and pages that were already sent stay valid if a write is refused. Sending them again would flood
    // a slow table.
    const sent = new Set<string>();
    const savedPages = new Set<string>();
    const withPumps = pumpsOf(key);
    let isRemembered = now() - known.knownAt < freshMs;
    let base = isRemembered ? known.lane : await store.load(key);
    const until = now() + longestCommitMs;
    for (let tries = 0; tries < mostTries && now() < until; tries += 1) {
      const before = base ?? newLane(key, now());
      const spilled = await spillLane(before);
      const { lane, granted, tells, time } = await applyChanges(
        { store, now },
        key,
        before,
        spilled,
        changes,
        ticket,
      );
      const after = withDepth(before, await withPumps(lane, time), time);
      if (after === before) {
        if (!isRemembered) {
          for (const tell of tells) tell();
          return tells.length;
        }
        // Nothing has to be written, so no conflict can show that the remembered lane is outdated. It is
        // read.
        isRemembered = false;
        base = await store.load(key);
        continue;
      }
      const unsent = granted.filter((one) => !sent.has(formatEntry(one)));
      if (unsent.length > 0) await jobs.sendGranted(key, unsent);
      for (const one of unsent) sent.add(formatEntry(one));
      const unsaved = spilled.pages.filter((page) => !savedPages.has(pageName(page)));
      if (unsaved.length > 0) await store.savePages(key, unsaved);
      for (const page of unsaved) savedPages.add(pageName(page));
      if (before.fair !== undefined && spilled.tenants.size > 0) {
        await store.saveTenants(key, before.fair.id, before.version, spilled.tenants);
      }
      const sentAt = now();
      const conflict = await store.save(after);
      if (conflict === undefined) {
        known.lane = { ...after, version: after.version + 1 };
        known.knownAt = now();
        countLargest('LongestLine', waitingIn(after));
        // The pump may run before this write, and find an empty line. So it is sent again.
        await withPumps(after, known.knownAt);
        for (const tell of tells) tell();
        return tells.length;
      }
      isRemembered = false;
      base = await afterConflict(key, conflict.current, tries, now() - sentAt);
    }
    throw new LaneBusy(`Too many processes are writing the lane ${nameOf(key)}.`);
  }

  /**
   * Finds the lane for the next try: first the row that the other process wrote, later (after a pause) a
   * newly read one.
   */
  async function afterConflict(
    key: LaneKey,
    current: Lane | undefined,
    tries: number,
    writeMs: number,
  ): Promise<Lane | undefined> {
    if (tries === 0) return current;
    await sleep(pauseAmongMany(tries, writeMs, longestPauseInTurns, random));
    return store.load(key);
  }

  async function run(key: LaneKey, known: Known): Promise<void> {
    known.isBusy = true;
    try {
      while (known.pending.length > 0) {
        const changes = known.pending.splice(0, mostAtOnce);
        try {
          const taken = await commit(key, known, changes);
          known.pending.unshift(...changes.slice(taken));
        } catch (error) {
          known.knownAt = 0;
          for (const { fail } of changes) fail(error);
        }
      }
    } finally {
      known.isBusy = false;
    }
  }

  const change = <T>(key: LaneKey, make: LaneChange<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const known = knownOf(key);
      known.pending.push({
        apply: (lane, time) => {
          const { lane: after, result } = make(lane, time);
          const tell = (): void => {
            resolve(result);
          };
          return { lane: after, tell };
        },
        fail: reject,
      });
      if (!known.isBusy) void run(key, known);
    });

  return { change, update: (key, to) => change(key, (lane) => ({ lane: to(lane), result: undefined })) };
}
