/**
 * A flow-control key is there from the first message that names it: it can be shown, paused and pinned before that message is
 * due. So the lane of a key is made before the message is stored. A process that dies between the two leaves a key that no
 * message has, which is forgotten like every unused key.
 */
import { dayMs, minuteMs, now, secondMs } from '../shared/clock.ts';
import type { FlowControl } from '../value/flowControl.ts';
import { keptUntilAtLeast, keyLane, limitsOfKey, withNewestLimits, type Lane } from './lane.ts';
import type { Message } from '../message/message.ts';
import { laneLastsUntil, unusedLifetimeMs } from './store/lanes.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';
import { lanes } from './slots/processLanes.ts';

/**
 * A process relies on a key for this long after it found the key. One that was deleted meanwhile is made again by the first
 * message after that, or by the next attempt.
 */
const knownMs = 10 * minuteMs;

/** A key lasts for this long after its message is due: the attempt then uses the lane, which extends it. */
const leastLifetimeMs = dayMs;

/** A key as this process knows it; Unix milliseconds. */
interface Known {
  /** The row stays at least until then; 0 where it is not known to be there. */
  lastsUntil: number;
  relyUntil: number;
  /** Checks of one key come one after another, so that many messages of a batch read it once. */
  turn: Promise<void>;
}

const allKnown = new Map<string, Known>();

const isKnown = ({ lastsUntil, relyUntil }: Known, until: number): boolean =>
  lastsUntil >= until && now() < relyUntil;

/** The part of a message that names keys. */
type Naming = Pick<Message, 'accountId' | 'createdAt' | 'notBefore'> &
  Partial<Pick<Message, 'flowControl' | 'callback' | 'failureCallback'>>;

/** Makes the lane of a key that is not there, and extends one that would be forgotten too soon. */
async function makeSure(known: Known, naming: Naming, { key, ...limits }: FlowControl, until: number) {
  const lane = keyLane(naming.accountId, key);
  let lastsUntil = await laneLastsUntil(lane);
  if (lastsUntil === undefined || lastsUntil < until) {
    const isShort = lastsUntil !== undefined;
    await lanes.update(lane, (found): Lane => {
      const made =
        found.version === 0 ? withNewestLimits(found, limitsOfKey(limits), naming.createdAt) : found;
      const kept = until > now() + unusedLifetimeMs - secondMs ? keptUntilAtLeast(made, until) : made;
      // A write alone extends it.
      return kept === found && isShort ? { ...found } : kept;
    });
    // Written just now: by this process, or by another, whose write the first read did not see yet.
    lastsUntil = Math.max(until, now() + unusedLifetimeMs - dayMs);
  }
  known.lastsUntil = lastsUntil;
  known.relyUntil = now() + knownMs;
}

async function ensureKey(naming: Naming, flowControl: FlowControl): Promise<void> {
  const until = Math.max(now(), naming.notBefore) + leastLifetimeMs;
  const known = recentlyUsed(
    allKnown,
    JSON.stringify([naming.accountId, flowControl.key]),
    (): Known => ({ lastsUntil: 0, relyUntil: 0, turn: Promise.resolve() }),
    () => true,
  );
  if (isKnown(known, until)) return;
  const check = async (): Promise<void> => {
    if (!isKnown(known, until)) await makeSure(known, naming, flowControl, until);
  };
  // A failure of the check before is told to its own caller.
  known.turn = known.turn.then(check, check);
  await known.turn;
}

/**
 * Makes the flow-control keys that a message and its callbacks name, where they are not there. A key that this process knows
 * costs nothing; another costs a read, and a new one a write.
 *
 * @throws LaneBusy, and errors of AWS; the message is not to be stored then
 */
export async function ensureKeys(message: Naming): Promise<void> {
  const { flowControl, callback, failureCallback } = message;
  for (const named of [flowControl, callback?.flowControl, failureCallback?.flowControl]) {
    if (named !== undefined) await ensureKey(message, named);
  }
}
