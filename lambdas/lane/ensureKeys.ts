/**
 * A flow-control key is there from the first message that names it: it can be shown, paused and pinned before that message is
 * due. So the lane of a key is made before the message is stored. A process that dies between the two leaves a key that no
 * message has, which is forgotten like every key that nobody uses.
 */
import { dayMs, minuteMs, now, secondMs } from '../shared/clock.ts';
import type { FlowControl } from '../options/flowControl.ts';
import { keptLonger, keyLane, limitsOfKey, withNewestLimits, type Lane } from './lane.ts';
import type { Message } from '../message/message.ts';
import { laneLastsUntil, unusedLifetimeMs } from './store/lanes.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';
import { lanes } from './slots/ourLanes.ts';

/**
 * A process relies so long on a key that it knows to be there. A key that was deleted meanwhile is made again by the first
 * message after that, or by the next attempt.
 */
const knownMs = 10 * minuteMs;

/** A key is there for so long after its message is due: the attempt uses the lane, and keeps it for longer. */
const leastLifetimeMs = dayMs;

/** A key as this process knows it; Unix milliseconds. */
interface Known {
  /** The row stays at least until then; 0 for one that is not known to be there. */
  lastsUntil: number;
  relyUntil: number;
  /** Looks at one key come one after another, so that many messages of a batch look once. */
  turn: Promise<void>;
}

const allKnown = new Map<string, Known>();

const isKnown = ({ lastsUntil, relyUntil }: Known, until: number): boolean =>
  lastsUntil >= until && now() < relyUntil;

/** A message as far as it names keys. */
type Naming = Pick<Message, 'accountId' | 'createdAt' | 'notBefore'> &
  Partial<Pick<Message, 'flowControl' | 'callback' | 'failureCallback'>>;

/** Makes the lane of a key that is not there, and has one that would be forgotten too soon last for longer. */
async function makeSure(known: Known, naming: Naming, { key, ...limits }: FlowControl, until: number) {
  const lane = keyLane(naming.accountId, key);
  let lastsUntil = await laneLastsUntil(lane);
  if (lastsUntil === undefined || lastsUntil < until) {
    const isShort = lastsUntil !== undefined;
    await lanes.update(lane, (found): Lane => {
      const made =
        found.version === 0 ? withNewestLimits(found, limitsOfKey(limits), naming.createdAt) : found;
      const kept = until > now() + unusedLifetimeMs - secondMs ? keptLonger(made, until) : made;
      // A write alone has it last for longer.
      return kept === found && isShort ? { ...found } : kept;
    });
    // Written just now: by this process, or by another, whose write the first look did not see yet.
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
  const look = async (): Promise<void> => {
    if (!isKnown(known, until)) await makeSure(known, naming, flowControl, until);
  };
  // Whoever looked before has its own failure.
  known.turn = known.turn.then(look, look);
  await known.turn;
}

/**
 * Makes the flow-control keys that a message and its callbacks name, where they are not there. A key that this process knows
 * costs nothing; another costs a read, and the first of all a write.
 *
 * @throws LaneBusy, and whatever AWS fails with; the message is not to be stored then
 */
export async function ensureKeys(message: Naming): Promise<void> {
  const { flowControl, callback, failureCallback } = message;
  for (const named of [flowControl, callback?.flowControl, failureCallback?.flowControl]) {
    if (named !== undefined) await ensureKey(message, named);
  }
}
