/** Finds what holds messages back: paused lanes, hosts that are down, and lines in which an attempt waits. */
import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import { attemptJob, type LaneKind } from '../job/job.ts';
import type { Message } from '../message/message.ts';
import { now, secondMs } from '../shared/clock.ts';
import {
  accountLane,
  circuitLane,
  holdLane,
  inFlightIn,
  isThere,
  keyLane,
  queueLane,
  waitingIn,
  type Lane,
  type LaneKey,
} from './lane.ts';
import { onFairLine } from './line/fairEntries.ts';
import { onLine } from './line/linePages.ts';
import { circuitIn } from './rules/circuitLane.ts';
import { formatEntry, queueEntry, type Entry } from './rules/entry.ts';
import { holdingOf } from './slots/dueAttemptOf.ts';
import { listLanes, loadLane } from './store/laneRows.ts';

const mayBeOld = { mayBeOld: true };

/**
 * Finds hosts that are down. Yields undefined for every other circuit, so that callers can limit how many are
 * read.
 */
export async function* downHosts({ id }: Account) {
  for await (const lane of listLanes(id, 'circuit', mayBeOld)) {
    const circuit = circuitIn(lane);
    yield isOpen(circuit)
      ? { host: lane.name, waiting: waitingIn(lane), openedAt: circuit.openedAt }
      : undefined;
  }
}

export async function* pausedQueues({ id }: Account) {
  for await (const lane of listLanes(id, 'queue', mayBeOld)) {
    yield isThere(lane) && lane.isPaused
      ? { name: lane.name, waiting: waitingIn(lane) + inFlightIn(lane) }
      : undefined;
  }
}

export async function* pausedKeys({ id }: Account) {
  for await (const lane of listLanes(id, 'key', mayBeOld)) {
    yield lane.isPaused ? { flowControlKey: lane.name, waiting: waitingIn(lane) } : undefined;
  }
}

export async function* lanesOf({ id }: Account, kind: LaneKind): AsyncGenerator<Lane> {
  for await (const lane of listLanes(id, kind, mayBeOld)) if (isThere(lane)) yield lane;
}

const lookMs = 5 * secondMs;

/** @returns false if it is not in the line, or the line is too long to be read in time */
async function isInLine(lane: Lane, entry: string): Promise<boolean> {
  // The attempt has a slot. If it is also in the line, a job was delivered twice.
  if (lane.leases.has(entry)) return false;
  const { line, fair } = lane;
  const until = now() + lookMs;
  let isFound = false;
  const onEntry = (found: Entry): Promise<void> => {
    isFound ||= formatEntry(found) === entry;
    return Promise.resolve();
  };
  await onLine(lane, [...line.front, ...line.back], [line.firstPage, line.nextPage], until, onEntry);
  if (!isFound && fair !== undefined) await onFairLine(lane, fair, undefined, until, { onEntry });
  return isFound;
}

export async function waitsInLine(message: Message, account: Account, attempt: number): Promise<boolean> {
  const { accountId, queueName, flowControl } = message;
  const job = attemptJob(message, attempt);
  const entry = formatEntry(job);
  const places: (readonly [LaneKey, string])[] = [[accountLane(accountId), entry]];
  if (flowControl !== undefined) places.push([keyLane(accountId, flowControl.key), entry]);
  const { holds, host } = holdingOf(message, account);
  for (const name of holds) places.push([holdLane(accountId, name), entry]);
  if (host !== undefined) places.push([circuitLane(accountId, host), entry]);
  // A retry uses the slot that its message has in the queue, so only the first attempt can be in the queue's
  // line.
  if (queueName !== undefined && attempt === 0)
    places.push([queueLane(accountId, queueName), queueEntry(job)]);
  // An attempt passes the last of these lanes first.
  for (const [key, holder] of places.toReversed()) {
    const lane = await loadLane(key);
    if (lane !== undefined && (await isInLine(lane, holder))) return true;
  }
  return false;
}
