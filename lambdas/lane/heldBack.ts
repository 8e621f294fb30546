/** Finds the lanes of an account that are paused, or whose host is down. */
import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import { circuitIn } from './rules/circuits.ts';
import { inFlightIn, isThere, waitingIn } from './lane.ts';
import { listLanes } from './store/lanes.ts';

/** The console reads again within half a minute. */
const mayBeOld = { mayBeOld: true };

/** Reads the hosts that are down; undefined for one that answers again. */
export async function* downHosts({ id }: Account) {
  for await (const lane of listLanes(id, 'circuit', mayBeOld)) {
    const circuit = circuitIn(lane);
    yield isOpen(circuit)
      ? { host: lane.name, waiting: waitingIn(lane), openedAt: circuit.openedAt }
      : undefined;
  }
}

/** Reads the paused queues; undefined for one that is not paused. */
export async function* pausedQueues({ id }: Account) {
  for await (const lane of listLanes(id, 'queue', mayBeOld)) {
    yield isThere(lane) && lane.isPaused
      ? { name: lane.name, waiting: waitingIn(lane) + inFlightIn(lane) }
      : undefined;
  }
}

/** Reads the paused flow-control keys; undefined for one that is not paused. */
export async function* pausedKeys({ id }: Account) {
  for await (const lane of listLanes(id, 'key', mayBeOld)) {
    yield lane.isPaused ? { flowControlKey: lane.name, waiting: waitingIn(lane) } : undefined;
  }
}
