import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import { circuitIn } from './rules/circuits.ts';
import { inFlightIn, isThere, waitingIn } from './lane.ts';
import { listLanes } from './store/lanes.ts';

const mayBeOld = { mayBeOld: true };

/** Yields undefined for other circuits, because readers limit how many lanes they read. */
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
