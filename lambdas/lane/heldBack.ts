import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import { circuitIn } from './rules/circuits.ts';
import { inFlightIn, isThere, waitingIn } from './lane.ts';
import { listLanes } from './store/lanes.ts';

/** The console refreshes every half minute. */
const mayBeOld = { mayBeOld: true };

/** Yields the hosts that are down, and undefined for each other circuit. */
export async function* downHosts({ id }: Account) {
  for await (const lane of listLanes(id, 'circuit', mayBeOld)) {
    const circuit = circuitIn(lane);
    yield isOpen(circuit)
      ? { host: lane.name, waiting: waitingIn(lane), openedAt: circuit.openedAt }
      : undefined;
  }
}

/** Yields the paused queues, and undefined for each other queue. */
export async function* pausedQueues({ id }: Account) {
  for await (const lane of listLanes(id, 'queue', mayBeOld)) {
    yield isThere(lane) && lane.isPaused
      ? { name: lane.name, waiting: waitingIn(lane) + inFlightIn(lane) }
      : undefined;
  }
}

/** Yields the paused keys, and undefined for each other key. */
export async function* pausedKeys({ id }: Account) {
  for await (const lane of listLanes(id, 'key', mayBeOld)) {
    yield lane.isPaused ? { flowControlKey: lane.name, waiting: waitingIn(lane) } : undefined;
  }
}
