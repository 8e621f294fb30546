import { describe, expect, it } from 'vitest';
import { closedCircuit, type Circuit } from '../../../../lambdas/circuit/circuit.ts';
import { rulesOf } from '../../../../lambdas/circuit/settings.ts';
import type { Verdict } from '../../../../lambdas/circuit/verdict.ts';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import {
  circuitIn,
  closeCircuit,
  enterCircuit,
  leaveCircuit,
  type CircuitArrival,
} from '../../../../lambdas/lane/rules/circuitLane.ts';
import {
  circuitLane,
  holdsBack,
  newLane,
  slotsOf,
  withLease,
  type Lane,
} from '../../../../lambdas/lane/lane.ts';

const rules = rulesOf({ enabled: true, failures: 2, open_seconds: 30, longest_wait_seconds: 600 });
const lane = newLane(circuitLane('acct', 'down.example'), 0);
const opened: Circuit = { ...closedCircuit, failures: 2, openedAt: 10_000, openUntil: 40_000 };
const open = (more: Partial<Circuit> = {}): Lane => ({ ...lane, circuit: { ...opened, ...more } });
const arrivalOf = (entry: string, more: Partial<CircuitArrival> = {}): CircuitArrival => ({
  ...{ entry, isYoung: false, until: 90_000, hasWaited: false, mayHaveStarted: false },
  ...{ rules, dueAt: 10_000 },
  ...more,
});
const down: Verdict = { says: 'down', status: 503, error: undefined, notBefore: undefined };
const up: Verdict = { says: 'up' };
const lineOf = ({ line: { front, back } }: Lane): readonly string[] => [...front, ...back];

describe('an attempt at a host', () => {
  it('is made without a write while the circuit is closed and no attempt waits', () => {
    expect(enterCircuit(lane, arrivalOf('a'), 20_000)).toEqual({ lane, result: 'in' });
    expect(enterCircuit(lane, arrivalOf('a'), 20_000).lane).toBe(lane);
  });

  it('waits while the circuit is open, and behind the line when it is closed', () => {
    const waiting = enterCircuit(open(), arrivalOf('a'), 39_999);
    expect(waiting).toEqual({ lane: joinLine(open(), 'a'), result: 'waits' });
    const closed = joinLine({ ...lane, circuit: closedCircuit }, 'first');
    const { lane: after, result } = enterCircuit(closed, arrivalOf('a'), 20_000);
    expect(result).toBe('waits');
    expect(lineOf(after)).toEqual(['first', 'a']);
  });

  it('is the only probe if the circuit takes one', () => {
    const probe = enterCircuit(open(), arrivalOf('a'), 40_000);
    expect(probe.result).toBe('in');
    expect(probe.lane.leases.has('a')).toBe(true);
    expect(enterCircuit(probe.lane, arrivalOf('b'), 40_000)).toEqual({
      lane: joinLine(probe.lane, 'b'),
      result: 'waits',
    });
  });

  it('has its granted slot even if the circuit has since been closed and removed', () => {
    const granted = withLease(lane, 'a', { slots: 1, until: 90_000, ticket: 't' });
    expect(enterCircuit(granted, arrivalOf('a', { ticket: 't' }), 20_000).result).toBe('in');
    expect(enterCircuit(granted, arrivalOf('a', { ticket: 'u' }), 20_000).result).toBe('stale');
    const known: Lane = { ...granted, circuit: closedCircuit };
    expect(enterCircuit(known, arrivalOf('a', { ticket: 't' }), 20_000).lane).toBe(known);
    // Its grant is not written yet, or its lease has ended.
    const young = arrivalOf('a', { ticket: 't', isYoung: true });
    expect(enterCircuit(lane, young, 20_000).result).toBe('early');
    const { lane: again, result } = enterCircuit(lane, arrivalOf('a', { ticket: 't' }), 20_000);
    expect(result).toBe('in');
    expect(again.leases.get('a')).toEqual({ slots: 1, until: 90_000, ticket: 't' });
  });

  it('goes to the front of the line without its slot if it was granted before the circuit opened again', () => {
    const granted = withLease(joinLine(open({ isExpiring: true }), 'b'), 'a', {
      slots: 1,
      until: 90_000,
      ticket: 't',
    });
    const { lane: after, result } = enterCircuit(granted, arrivalOf('a', { ticket: 't' }), 39_999);
    expect(result).toBe('waits');
    expect(after.leases.size).toBe(0);
    expect(lineOf(after)).toEqual(['a', 'b']);
    expect(after.circuit?.isExpiring).toBe(false);
  });
});

describe('an attempt that has waited too long', () => {
  it('fails and gives back its slot, and several others are started at once to fail', () => {
    const held = withLease(open(), 'a', { slots: 1, until: 990_000 });
    expect(enterCircuit(held, arrivalOf('a'), 609_999).result).not.toBe('overdue');
    const { lane: after, result } = enterCircuit(held, arrivalOf('a'), 610_000);
    expect(result).toBe('overdue');
    expect(after.leases.size).toBe(0);
    expect(after.circuit).toEqual({ ...opened, isExpiring: true });
    expect(slotsOf(after, 610_000)).toBe(10);
  });

  it('does not fail if its host was down only before it was due', () => {
    expect(enterCircuit(open(), arrivalOf('a', { dueAt: 20_000, until: 990_000 }), 610_000).result).toBe(
      'in',
    );
  });

  it('starts together with others: one that has not waited as long is the probe, if it is alone', () => {
    const expiring = withLease(open({ isExpiring: true }), 'a', { slots: 1, until: 990_000, ticket: 't' });
    const late = arrivalOf('a', { dueAt: 500_000, ticket: 't' });
    const alone = enterCircuit(expiring, late, 610_000);
    expect(alone.result).toBe('in');
    expect(alone.lane.circuit?.isExpiring).toBe(false);
    const beside = enterCircuit(withLease(expiring, 'b', { slots: 1, until: 990_000 }), late, 610_000);
    expect(beside.result).toBe('waits');
    expect(lineOf(beside.lane)).toEqual(['a']);
    expect([...beside.lane.leases.keys()]).toEqual(['b']);
    expect(beside.lane.circuit?.isExpiring).toBe(false);
  });
});

describe('the end of an attempt', () => {
  const probing = withLease(open(), 'a', { slots: 1, until: 90_000 });

  it('opens the circuit after the account’s number of failures in a row', () => {
    const first = leaveCircuit(lane, 'a', down, rules, 10_000);
    expect(first.result).toBeUndefined();
    expect(circuitIn(first.lane)).toMatchObject({ failures: 1, openUntil: 0 });
    const second = leaveCircuit(first.lane, 'b', down, rules, 12_000);
    expect(second.result).toBe('opened');
    expect(circuitIn(second.lane)).toMatchObject({ openedAt: 12_000, openUntil: 42_000 });
    expect(holdsBack(second.lane)).toBe(true);
  });

  it('closes the circuit if a probe succeeds, and two waiting attempts start', () => {
    const { lane: after, result } = leaveCircuit(probing, 'a', up, rules, 50_000);
    expect(result).toBe('closed');
    expect(after.leases.size).toBe(0);
    expect(holdsBack(after)).toBe(false);
    expect(holdsBack(joinLine(after, 'b'))).toBe(true);
    expect(slotsOf(after, 50_000)).toBe(2);
  });

  it('leaves the circuit open if a probe fails, and reports no change', () => {
    const { lane: after, result } = leaveCircuit(probing, 'a', down, rules, 50_000);
    expect(result).toBeUndefined();
    expect(after.leases.size).toBe(0);
    expect(circuitIn(after)).toMatchObject({ openedAt: 10_000, openUntil: 110_000, failedProbes: 1 });
  });

  it('changes only the slot if it says nothing new about its host', () => {
    const { lane: after, result } = leaveCircuit(probing, 'a', { says: 'nothing' }, rules, 50_000);
    expect(result).toBeUndefined();
    expect(after).toEqual({ ...open(), leases: new Map() });
    expect(leaveCircuit(lane, 'a', up, rules, 50_000).lane).toBe(lane);
  });

  it('by hand closes the circuit, and waiting attempts start one at a time at first', () => {
    const closed = closeCircuit(joinLine(open(), 'a'));
    expect(circuitIn(closed)).toEqual(closedCircuit);
    expect(slotsOf(closed, 20_000)).toBe(1);
    expect(lineOf(closed)).toEqual(['a']);
  });
});
