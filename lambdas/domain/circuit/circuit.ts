/**
 * The circuit of a destination's host, for one account. While the host is down its circuit is open: attempts wait in the line
 * of the circuit's lane instead of being made.
 *
 * The states, in the order in which they are passed:
 *
 * 1. closed: attempts are made. Failures in a row are counted.
 * 2. open, until `openUntil`: no attempt is made.
 * 3. half-open, from then on: one attempt is made, the probe. A failure opens the circuit again, for twice as long.
 * 4. closed, with a line: those that waited are let go, few at first, and one more at once with each success.
 */
import { secondMs } from '../clock.ts';
import type { CircuitRules } from './settings.ts';

export interface Circuit {
  /** Failures in a row. */
  readonly failures: number;
  /** When the first of them was counted, Unix milliseconds. */
  readonly failedAt: number;
  /** The status and the error of the last of them. */
  readonly lastStatus: number;
  readonly lastError?: string | undefined;
  /** When it was opened, Unix milliseconds; undefined while it is closed. Probes that fail do not change it. */
  readonly openedAt?: number | undefined;
  /** Unix milliseconds from which on a probe may be made. */
  readonly openUntil: number;
  /** Probes that have failed since then. */
  readonly failedProbes: number;
  /** Attempts that wait have waited for too long, and several at once are let go, to fail. */
  readonly isExpiring: boolean;
  /** So many of those that waited may be in flight at once, once it is closed. */
  readonly window: number;
}

export const closedCircuit: Circuit = {
  failures: 0,
  failedAt: 0,
  lastStatus: 0,
  openUntil: 0,
  failedProbes: 0,
  isExpiring: false,
  window: 1,
};

/**
 * What an attempt says about its host.
 *
 * - `up`: it answers. A 4XX is about the request, not about the host.
 * - `down`: no answer, or a 5XX.
 * - `busy`: a 429. The host is not down, but a probe that gets it is no reason to let go all that wait.
 * - `nothing`: no request was made.
 */
export type Verdict =
  | { readonly says: 'up' | 'nothing' }
  | {
      readonly says: 'down' | 'busy';
      readonly status: number;
      readonly error: string | undefined;
      /** Unix milliseconds before which the host does not want to be called again; undefined where it does not say. */
      readonly notBefore: number | undefined;
    };

export const isOpen = ({ openedAt }: Circuit): boolean => openedAt !== undefined;

/**
 * The least time from the first failure to the opening. What a process knows of a circuit is up to a second old; by then every
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
 * Changes a circuit by what an attempt says.
 *
 * @param wasHeld it was made by leave of the circuit: as its probe, or as one of those that waited
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
  const last = { lastStatus: verdict.status, lastError: verdict.error?.slice(0, longestError) };
  if (isOpen(circuit)) {
    // Those that were in flight when it was opened tell nothing new.
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

/** Tells whether attempts that have waited since a moment, Unix milliseconds, have waited for too long. */
export const isOverdue = (
  { openedAt }: Circuit,
  { longestWaitMs }: CircuitRules,
  dueAt: number,
  now: number,
): boolean => openedAt !== undefined && now - Math.max(openedAt, dueAt) >= longestWaitMs;

/** Attempts that wait for too long are taken out of the line so many at a time. */
const expiringAtOnce = 10;

/** So many of those that wait may be in flight at once. */
export function heldAtOnce(circuit: Circuit, now: number): number {
  if (!isOpen(circuit)) return circuit.window;
  if (now < circuit.openUntil) return 0;
  return circuit.isExpiring ? expiringAtOnce : 1;
}
