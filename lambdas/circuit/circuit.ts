/**
 * The circuit of a destination's host, for one account. While the host is down its circuit is open, and
 * attempts wait in the line of the circuit's lane.
 *
 * The states, in order:
 *
 * 1. closed: attempts are made. Consecutive failures are counted.
 * 2. open, until `openUntil`: no attempt is made.
 * 3. half-open: one attempt is made, the probe. If it fails, the circuit opens again, for twice as long.
 * 4. closed, with a line: a few waiting attempts are released, and one more with each success.
 */
import * as z from 'zod/mini';
import { hourMs, secondMs } from '../shared/clock.ts';
import type { CircuitRules } from './settings.ts';
import type { Verdict } from './verdict.ts';

const number = z._default(z.number(), 0);

export const circuit = z.object({
  failures: number,
  /** When the first of these failures was counted. */
  failedAt: number,
  lastStatus: number,
  lastError: z.optional(z.string()),
  /** When the circuit opened; undefined while it is closed. A failed probe does not change it. */
  openedAt: z.optional(z.number()),
  /** When a hold last released an attempt. The wait of an attempt counts from then. */
  releasedAt: z.optional(z.number()),
  /** When the next probe may be made. */
  openUntil: number,
  /** The number of failed probes since the circuit opened. */
  failedProbes: number,
  /** Whether attempts have waited too long. Then several are released together, to fail. */
  isExpiring: z._default(z.boolean(), false),
  /** How many waiting attempts may be in flight after the circuit has closed. */
  window: z._default(z.number(), 1),
});
export type Circuit = Readonly<z.infer<typeof circuit>>;

export const closedCircuit: Circuit = circuit.parse({});

export const isOpen = ({ openedAt }: Circuit): boolean => openedAt !== undefined;

/** How many attempts that have waited too long are released together. */
const expiringAtOnce = 10;

export function heldAtOnce(circuit: Circuit, now: number): number {
  if (!isOpen(circuit)) return circuit.window;
  if (now < circuit.openUntil) return 0;
  return circuit.isExpiring ? expiringAtOnce : 1;
}

/**
 * The least time from the first failure until the circuit opens. A process may see a circuit as it was a
 * second ago. After this time, every process with successful attempts has seen the failures and reset them.
 */
export const knownForMs = secondMs;

/** Characters. */
const longestError = 200;

function openMsOf({ openMs, longestOpenMs }: CircuitRules, failedProbes: number): number {
  // More doublings would give Infinity, which is not a time.
  return Math.min(longestOpenMs, openMs * 2 ** Math.min(failedProbes, 30));
}

function openUntilOf(rules: CircuitRules, failedProbes: number, notBefore = 0, now: number): number {
  return Math.min(now + rules.longestOpenMs, Math.max(now + openMsOf(rules, failedProbes), notBefore));
}

/** @param wasHeld whether the circuit released the attempt, as a probe or from its line */
export function afterVerdict(
  circuit: Circuit,
  verdict: Verdict,
  rules: CircuitRules,
  wasHeld: boolean,
  now: number,
): Circuit {
  switch (verdict.says) {
    case 'nothing':
      return circuit;
    case 'up':
      return afterSuccess(circuit, wasHeld);
    case 'busy': {
      if (!isOpen(circuit) || !wasHeld) return circuit;
      const { failedProbes } = circuit;
      return { ...circuit, openUntil: openUntilOf(rules, failedProbes, verdict.notBefore, now) };
    }
    case 'down':
      break;
  }
  const last = {
    lastStatus: verdict.status,
    lastError: verdict.error?.slice(0, longestError).toWellFormed(),
  };
  if (isOpen(circuit)) {
    // The attempt started before the circuit opened.
    if (!wasHeld) return circuit;
    const failedProbes = circuit.failedProbes + 1;
    const openUntil = openUntilOf(rules, failedProbes, verdict.notBefore, now);
    return { ...circuit, ...last, failures: circuit.failures + 1, failedProbes, openUntil };
  }
  const failures = circuit.failures + 1;
  const failedAt = circuit.failures === 0 ? now : circuit.failedAt;
  const counted = { ...circuit, ...last, failures, failedAt };
  if (failures < rules.failures || now - failedAt < knownForMs) return counted;
  const openUntil = openUntilOf(rules, 0, verdict.notBefore, now);
  return { ...counted, openedAt: now, openUntil, failedProbes: 0, isExpiring: false };
}

function afterSuccess(circuit: Circuit, wasHeld: boolean): Circuit {
  if (isOpen(circuit)) return { ...closedCircuit, window: 2 };
  if (wasHeld) return { ...circuit, failures: 0, window: circuit.window + 1 };
  return circuit.failures === 0 ? circuit : { ...circuit, failures: 0 };
}

/** @param dueAt when the attempt was due */
export const isOverdue = (
  { openedAt, releasedAt = 0 }: Circuit,
  { longestWaitMs }: CircuitRules,
  dueAt: number,
  now: number,
): boolean => openedAt !== undefined && now - Math.max(openedAt, releasedAt, dueAt) >= longestWaitMs;

/**
 * Corrects a circuit after the clock has stepped back: it stays open for as long as it would if it failed or
 * opened now.
 */
export function circuitAsOf(circuit: Circuit, now: number): Circuit {
  const { failedAt, openedAt, openUntil, releasedAt } = circuit;
  const sinceOpening = openUntil - (openedAt ?? openUntil);
  return {
    ...circuit,
    failedAt: Math.min(failedAt, now),
    openedAt: openedAt && Math.min(openedAt, now),
    releasedAt: releasedAt && Math.min(releasedAt, now),
    openUntil: Math.min(openUntil, now + Math.min(sinceOpening, hourMs)),
  };
}
