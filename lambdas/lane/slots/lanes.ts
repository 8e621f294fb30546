/**
 * Changes of lanes. All that a process does to one lane at a time becomes one write, on condition that nobody else wrote
 * since the lane was read; where another process did, the changes are made to the lane as that one wrote it.
 *
 * The job of a granted attempt is sent before the lane is written. So a process that dies between the two leaves a job for a
 * grant that was never written, which is harmless ({@link Grant} `early`), and never a grant without a job.
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

export interface JobSender {
  /** Sends the jobs of attempts to which a lane grants a slot. */
  readonly sendGranted: (key: LaneKey, granted: readonly Granted[]) => Promise<void>;
  /**
   * Sends a pump to a lane; `dueAt` in Unix milliseconds.
   *
   * @param extendsLine whether it extends the lifetimes of the messages in the line, too
   */
  readonly sendPump: (key: LaneKey, dueAt: number, extendsLine: boolean) => Promise<void>;
}

export interface LaneParts {
  readonly store: LaneStore;
  readonly jobs: JobSender;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Gives a random number from 0 to 1. */
  readonly random: () => number;
}

/** One thing that happens to a lane. */
export type LaneChange<T> = (lane: Lane, now: number) => Changed<T>;

export interface Lanes {
  /**
   * Makes a change, and grants slots to those in the line for whom there is capacity afterwards.
   *
   * @param key the lane's; a lane that is not there is made
   * @throws LaneBusy when others were faster again and again; nothing is changed then
   */
  readonly change: <T>(key: LaneKey, change: LaneChange<T>) => Promise<T>;
  /** Makes a change that has no result. */
  readonly update: (key: LaneKey, to: (lane: Lane) => Lane) => Promise<void>;
}

/** The error of a process that gives up a change of a lane for now, because others wrote the lane too often. */
export class LaneBusy extends TransientError {
  override readonly name = 'LaneBusy';
}

/** Each try is a read of what another wrote, and a write, with a pause before them: four seconds where the table answers in 5 ms. */
const mostTries = 24;
const longestPauseInTurns = 32;
/** No try begins after this time: a request to the API ends after 28 s, and has more to do than this. */
const longestCommitMs = 8_000;

/** A lane that was read or written within this time is taken as it was; a write tells whether that was right. */
const freshMs = 50;

/** A pump that comes this much later than it had to is early enough. */
const pumpSlackMs = 20;

/** Tells whether a pump that is on its way comes in time for a check. */
const isPumpDue = (pumpAt: number, checkAt: number, now: number): boolean =>
  pumpAt > now && pumpAt <= checkAt + pumpSlackMs;

/** The messages that wait in a line for longer than this are checked, and again after this time. */
export const extendEveryMs = 3 * dayMs;

/** Changes that become one write. Each may add 100 entries to the line, of 34 bytes, and a row has 400 KB. */
const mostAtOnce = 50;

/** A lane as this process knows it, and what it is about to do to it. */
interface Known {
  readonly pending: PendingChange[];
  isBusy: boolean;
  lane: Lane | undefined;
  /** Unix milliseconds. */
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

  /** Sends the pumps that a lane needs, and notes them in it. */
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
   * Makes changes to a lane, until one write takes them.
   *
   * @returns how many it took: fewer than all where many ask for places in a fair line
   */
  async function commit(key: LaneKey, known: Known, changes: readonly PendingChange[]): Promise<number> {
    const ticket = randomBytes(6).toString('base64url');
    // The jobs and pages of a try whose write was refused are valid for the next try, too, and are not sent again. Otherwise a
    // slow table would make more and more of them.
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
        // Nothing is to be written, so no refused write would show that the remembered lane is old.
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
        // A pump that was due before the lane was written may have come before, and found nobody in the line.
        await withPumps(after, known.knownAt);
        for (const tell of tells) tell();
        return tells.length;
      }
      isRemembered = false;
      base = await afterConflict(key, conflict.current, tries, now() - sentAt);
    }
    throw new LaneBusy(`The lane ${nameOf(key)} is written by too many at once.`);
  }

  /**
   * Finds the lane to try again with. The first time that is the lane as the other process wrote it; later there are many
   * others, and the lane that one of them wrote before a pause is old after it.
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
