import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { Account } from '../account/account.ts';
import { isOpen } from '../circuit/circuit.ts';
import { circuitHostOf, longestHost } from '../circuit/verdict.ts';
import { now } from '../shared/clock.ts';
import { badField, notFound, quote, type HttpError } from '../error/httpError.ts';
import { circuitIn, closeCircuit } from './rules/circuitLane.ts';
import { circuitLane, holdsBack, slotsInUse, waitingIn, type Lane } from './lane.ts';
import { log } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import { listLanes, loadLane } from './store/laneRows.ts';
import { showByName, type ShownPage } from '../list/pages.ts';
import { changeOrRefuse } from './slots/changeOrRefuse.ts';

type CircuitAnswer = Answer<typeof answers.circuit>;

function circuitRecord(lane: Lane, time: number): CircuitAnswer {
  const circuit = circuitIn(lane);
  const { openedAt, openUntil, failures, failedProbes, lastStatus, lastError } = circuit;
  const state = !isOpen(circuit) ? 'closing' : time < openUntil ? 'open' : 'half-open';
  return {
    host: lane.name,
    state,
    waiting: waitingIn(lane),
    inFlight: slotsInUse(lane, time),
    openedAt,
    nextProbeAt: isOpen(circuit) ? openUntil : undefined,
    failures,
    failedProbes,
    lastStatus,
    lastError,
  };
}

async function* circuitsBehind(accountId: string, behind?: string): AsyncGenerator<Lane> {
  for await (const lane of listLanes(accountId, 'circuit', { behind })) if (holdsBack(lane)) yield lane;
}

export function listCircuits(
  account: Account,
  cursor: string | undefined,
): Promise<ShownPage<CircuitAnswer>> {
  const time = now();
  return showByName(
    `${account.id}/circuits`,
    cursor,
    (behind) => circuitsBehind(account.id, behind),
    ({ name }) => name,
    (lane) => circuitRecord(lane, time),
  );
}

/** @returns undefined if the host's circuit holds nothing back */
export async function circuitOf(account: Account, url: string): Promise<CircuitAnswer | undefined> {
  const host = circuitHostOf(url);
  const lane = host === undefined ? undefined : await loadLane(circuitLane(account.id, host));
  return lane !== undefined && holdsBack(lane) ? circuitRecord(lane, now()) : undefined;
}

const noSuchCircuit = (host: string): HttpError =>
  notFound('circuit_not_found', `No circuit of the host ${quote(host)} is open.`);

/**
 * Closes a circuit. Waiting attempts start a few at a time.
 *
 * @throws HttpError 404 or 503
 */
export async function closeCircuitOf(account: Account, host: string): Promise<void> {
  if (host.length > longestHost) {
    throw badField(`The host is ${quote(host)}; allowed are 1 to ${longestHost} characters.`);
  }
  let wasOpen = false;
  await changeOrRefuse(circuitLane(account.id, host), (lane) => {
    if (!holdsBack(lane)) throw noSuchCircuit(host);
    wasOpen = isOpen(circuitIn(lane));
    return wasOpen ? closeCircuit(lane) : lane;
  });
  if (!wasOpen) return;
  count('CircuitsClosed');
  log.info('A circuit was closed by hand', { accountId: account.id, host });
}
