/** Opens and closes circuits. */
import { secondMs } from '../shared/clock.ts';
import { closedCircuit, isOpen, type Circuit } from './circuit.ts';
import type { CircuitRules } from './settings.ts';
import type { Verdict } from './verdict.ts';

/**
 * The least time from the first failure to the opening. A process may know a circuit as it was a second ago; by then every
 * process whose attempts succeed has seen the failures, and has taken them back.
 */
export const knownForMs = secondMs;

/** Characters of an error that a circuit keeps. */
const longestError = 200;

function openMsOf({ openMs, longestOpenMs }: CircuitRules, failedProbes: number): number {
  // Doubled too often, the number would be infinite, which is not a moment.
  return Math.min(longestOpenMs, openMs * 2 ** Math.min(failedProbes, 30));
}

function openUntilOf(rules: CircuitRules, failedProbes: number, notBefore = 0, now: number): number {
  return Math.min(now + rules.longestOpenMs, Math.max(now + openMsOf(rules, failedProbes), notBefore));
}

/**
 * Changes a circuit by the verdict of an attempt.
 *
 * @param wasHeld whether the circuit let the attempt go: as its probe, or as one of those that waited
 */
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
    // Attempts that were in flight when the circuit was opened tell nothing new.
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

/** Whether an attempt has waited for too long. @param dueAt when it was due, Unix milliseconds */
export const isOverdue = (
  { openedAt }: Circuit,
  { longestWaitMs }: CircuitRules,
  dueAt: number,
  now: number,
): boolean => openedAt !== undefined && now - Math.max(openedAt, dueAt) >= longestWaitMs;
