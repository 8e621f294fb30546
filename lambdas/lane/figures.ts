import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import type { LaneKind } from '../job/job.ts';
import { circuitIn } from './rules/circuitLane.ts';
import { accountLane, isThere, waitingIn, type Lane } from './lane.ts';
import { laneNames, listLanes, loadLane } from './store/laneRows.ts';
export { isReadForOldest, whatWaits } from './line/oldest.ts';

/** Lanes that are read for one answer: 20 calls of DynamoDB. */
const mostRead = 2_000;
const mostQueues = 1_000;
const mostNames = 10_000;

interface LaneFigures {
  readonly account: Lane | undefined;
  readonly queues: readonly Lane[];
  readonly keys: readonly Lane[];
  readonly unread: { readonly queues: number; readonly keys: number };
  /** Attempts that wait because their host is down or deliveries are held. */
  readonly waitingForHosts: number;
  readonly hostsDown: number;
}

async function readLanes(accountId: string, kind: LaneKind, most: number): Promise<readonly Lane[]> {
  const lanes: Lane[] = [];
  for await (const lane of listLanes(accountId, kind)) {
    if (!isThere(lane)) continue;
    lanes.push(lane);
    if (lanes.length === most) break;
  }
  return lanes;
}

async function countBehind(
  accountId: string,
  kind: LaneKind,
  read: readonly Lane[],
  most: number,
): Promise<number> {
  const last = read.at(-1);
  if (read.length < most || last === undefined) return 0;
  let count = 0;
  for await (const _ of laneNames(accountId, kind, last.name)) {
    count += 1;
    if (count === mostNames) break;
  }
  return count;
}

export async function readFigures({ id: accountId, holds }: Account): Promise<LaneFigures> {
  const [account, queues, circuits, held] = await Promise.all([
    loadLane(accountLane(accountId)),
    readLanes(accountId, 'queue', mostQueues),
    readLanes(accountId, 'circuit', mostRead),
    holds === undefined ? [] : readLanes(accountId, 'hold', mostRead),
  ]);
  const left = mostRead - queues.length;
  const keys = await readLanes(accountId, 'key', left);
  const [queuesBehind, keysBehind] = await Promise.all([
    countBehind(accountId, 'queue', queues, mostQueues),
    countBehind(accountId, 'key', keys, left),
  ]);
  return {
    account,
    queues,
    keys,
    unread: { queues: queuesBehind, keys: keysBehind },
    waitingForHosts: [...circuits, ...held].reduce((sum, lane) => sum + waitingIn(lane), 0),
    hostsDown: circuits.filter((lane) => isOpen(circuitIn(lane))).length,
  };
}
