/** Attempts that arrive at an open circuit wait in its lane's line, and start when it closes. */
import { afterVerdict, isOverdue, closedCircuit, isOpen, type Circuit } from '../../circuit/circuit.ts';
import type { CircuitRules } from '../../circuit/settings.ts';
import type { Verdict } from '../../circuit/verdict.ts';
import { enter, joinAgain, type Arrival, type Grant } from './arrival.ts';
import { holdsBack, slotsInUse, withLease, type Lane, type Changed } from '../lane.ts';
import { leave } from './leaving.ts';

export const circuitIn = ({ circuit }: Pick<Lane, 'circuit'>): Circuit => circuit ?? closedCircuit;

export interface CircuitArrival extends Arrival {
  readonly rules: CircuitRules;
  readonly dueAt: number;
  /** Whether a hold has just released the attempt. */
  readonly isReleased?: boolean | undefined;
}

/** @returns `overdue` if the attempt waited too long and must fail */
export function enterCircuit(lane: Lane, arrival: CircuitArrival, now: number): Changed<Grant | 'overdue'> {
  const { entry, ticket, rules, dueAt, isReleased = false } = arrival;
  const before = circuitIn(lane);
  const circuit = isReleased && isOpen(before) ? { ...before, releasedAt: now } : before;
  const found = circuit === before ? lane : { ...lane, circuit };
  if (isOverdue(circuit, rules, dueAt, now)) {
    const left = withLease(found, entry, undefined);
    return { lane: { ...left, circuit: { ...circuit, isExpiring: true } }, result: 'overdue' };
  }
  if (!holdsBack(found) && ticket === undefined && !found.leases.has(entry)) {
    return { lane: found, result: 'in' };
  }
  const entered = enter(found.circuit === undefined ? { ...found, circuit } : found, arrival, now);
  if (entered.result !== 'in' || (!isOpen(circuit) && !found.isPaused)) return entered;
  const isExpiring = false;
  if (!found.isPaused && now >= circuit.openUntil && slotsInUse(entered.lane, now) === 1) {
    return circuit.isExpiring
      ? { lane: { ...entered.lane, circuit: { ...circuit, isExpiring } }, result: 'in' }
      : entered;
  }
  // The circuit opened again or a hold began after the slot was granted, or the slot was granted to a group
  // of overdue attempts.
  const without = withLease(entered.lane, entry, undefined);
  return {
    lane: { ...joinAgain(without, entry), circuit: { ...circuit, isExpiring } },
    result: 'waits',
  };
}

export type Turn = 'opened' | 'closed' | undefined;

/** Frees an attempt's slot, if any, and updates the circuit with its verdict. */
export function leaveCircuit(
  lane: Lane,
  entry: string,
  verdict: Verdict,
  rules: CircuitRules,
  now: number,
): Changed<Turn> {
  const before = circuitIn(lane);
  const wasHeld = lane.leases.has(entry);
  const circuit = afterVerdict(before, verdict, rules, wasHeld, now);
  const left = leave(lane, entry);
  if (circuit === before) return { lane: left, result: undefined };
  const turn = isOpen(before) === isOpen(circuit) ? undefined : isOpen(circuit) ? 'opened' : 'closed';
  return { lane: { ...left, circuit }, result: turn };
}

export const closeCircuit = (lane: Lane): Lane => ({ ...lane, circuit: closedCircuit });
