/**
 * Creates a flow-control key's lane before the first message with that key is stored, so that the key can be read, paused and
 * pinned. An unused key expires.
 */
import { dayMs, minuteMs, now, secondMs } from '../shared/clock.ts';
import type { FlowControl } from '../value/flowControl.ts';
import { keptUntilAtLeast, keyLane, limitsOfKey, withNewestLimits, type Lane } from './lane.ts';
import type { Message } from '../message/message.ts';
import { laneLastsUntil, unusedLifetimeMs } from './store/laneRows.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';
import { lanes } from './slots/processLanes.ts';

/**
 * How long a process relies on a key that it checked. A key that is deleted in this time is created by a
 * later message.
 */
const knownMs = 10 * minuteMs;

/** A key is kept at least this long after its message is due. The attempt extends it. */
const leastLifetimeMs = dayMs;

/** Times are. */
interface Known {
  /** The row is kept at least until then; 0 if unknown. */
  lastsUntil: number;
  relyUntil: number;
  /** The last check. The next check waits for it, so a batch reads a key once. */
  turn: Promise<void>;
}

const allKnown = new Map<string, Known>();

const isKnown = ({ lastsUntil, relyUntil }: Known, until: number): boolean =>
  lastsUntil >= until && now() < relyUntil;

type Naming = Pick<Message, 'accountId' | 'createdAt' | 'notBefore'> &
  Partial<Pick<Message, 'flowControl' | 'callback' | 'failureCallback'>>;

/** Creates a missing key's lane, or extends its lifetime. */
async function makeSure(known: Known, naming: Naming, { key, ...limits }: FlowControl, until: number) {
  const lane = keyLane(naming.accountId, key);
  let lastsUntil = await laneLastsUntil(lane);
  if (lastsUntil === undefined || lastsUntil < until) {
    const isShort = lastsUntil !== undefined;
    await lanes.update(lane, (found): Lane => {
      const made =
        found.version === 0 ? withNewestLimits(found, limitsOfKey(limits), naming.createdAt) : found;
      const kept = until > now() + unusedLifetimeMs - secondMs ? keptUntilAtLeast(made, until) : made;
      // Any write extends the row's lifetime, and a copy counts as a change.
      return kept === found && isShort ? { ...found } : kept;
    });
    lastsUntil = Math.max(until, now() + unusedLifetimeMs - dayMs);
  }
  known.lastsUntil = lastsUntil;
  known.relyUntil = now() + knownMs;
}

async function ensureKey(naming: Naming, flowControl: FlowControl): Promise<void> {
  const until = Math.max(now(), naming.notBefore) + leastLifetimeMs;
  const known = recentlyUsed(allKnown, JSON.stringify([naming.accountId, flowControl.key]), (): Known => ({
    lastsUntil: 0,
    relyUntil: 0,
    turn: Promise.resolve(),
  }));
  if (isKnown(known, until)) return;
  const check = async (): Promise<void> => {
    if (!isKnown(known, until)) await makeSure(known, naming, flowControl, until);
  };
  known.turn = known.turn.then(check, check);
  await known.turn;
}

/**
 * Creates missing flow-control keys. A recently checked key costs no call.
 *
 * @throws LaneBusy, and errors of AWS; the message must not be stored then
 */
export async function ensureKeys(message: Naming): Promise<void> {
  const { flowControl, callback, failureCallback } = message;
  for (const named of [flowControl, callback?.flowControl, failureCallback?.flowControl]) {
    if (named !== undefined) await ensureKey(message, named);
  }
}
