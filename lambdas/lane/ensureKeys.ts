/**
 * Makes a flow-control key's lane before the first message that names it is stored, so that the key can be read, paused and pinned
 * before that message is due. If the process dies in between, the unused key expires.
 */
import { dayMs, minuteMs, now, secondMs } from '../shared/clock.ts';
import type { FlowControl } from '../value/flowControl.ts';
import { keptUntilAtLeast, keyLane, limitsOfKey, withNewestLimits, type Lane } from './lane.ts';
import type { Message } from '../message/message.ts';
import { laneLastsUntil, unusedLifetimeMs } from './store/lanes.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';
import { lanes } from './slots/processLanes.ts';

/**
 * A process does not check a key again for this long. If the key is deleted in that time, the first message after it, or the next
 * attempt, makes it again.
 */
const knownMs = 10 * minuteMs;

/** A key lasts this long after its message is due. The attempt then extends it. */
const leastLifetimeMs = dayMs;

/** What this process knows of a key. Times are Unix milliseconds. */
interface Known {
  /** The row exists until then at least; 0 if unknown. */
  lastsUntil: number;
  relyUntil: number;
  /** Checks of a key run one after another, so that a batch reads it once. */
  turn: Promise<void>;
}

const allKnown = new Map<string, Known>();

const isKnown = ({ lastsUntil, relyUntil }: Known, until: number): boolean =>
  lastsUntil >= until && now() < relyUntil;

type Naming = Pick<Message, 'accountId' | 'createdAt' | 'notBefore'> &
  Partial<Pick<Message, 'flowControl' | 'callback' | 'failureCallback'>>;

/** Makes the lane of a missing key, and extends one that would expire too soon. */
async function makeSure(known: Known, naming: Naming, { key, ...limits }: FlowControl, until: number) {
  const lane = keyLane(naming.accountId, key);
  let lastsUntil = await laneLastsUntil(lane);
  if (lastsUntil === undefined || lastsUntil < until) {
    const isShort = lastsUntil !== undefined;
    await lanes.update(lane, (found): Lane => {
      const made =
        found.version === 0 ? withNewestLimits(found, limitsOfKey(limits), naming.createdAt) : found;
      const kept = until > now() + unusedLifetimeMs - secondMs ? keptUntilAtLeast(made, until) : made;
      // Any write extends its lifetime, so a copy is enough.
      return kept === found && isShort ? { ...found } : kept;
    });
    // Written just now by this process, or by another one whose write the first read did not see.
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
  // A check that failed threw to its own caller already.
  known.turn = known.turn.then(check, check);
  await known.turn;
}

/**
 * Makes the missing flow-control keys of a message and its callbacks. A key that this process knows costs no call, another one a
 * read, and a new one a write.
 *
 * @throws LaneBusy, and errors of AWS; do not store the message then
 */
export async function ensureKeys(message: Naming): Promise<void> {
  const { flowControl, callback, failureCallback } = message;
  for (const named of [flowControl, callback?.flowControl, failureCallback?.flowControl]) {
    if (named !== undefined) await ensureKey(message, named);
  }
}
