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
  /** Whether attempts have waited for too long: then several at once are let go, to fail. */
  readonly isExpiring: boolean;
  /** Attempts that waited and may be in flight at once, once the circuit is closed. */
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

export const isOpen = ({ openedAt }: Circuit): boolean => openedAt !== undefined;

/** Attempts that have waited for too long and are let go at once. */
const expiringAtOnce = 10;

/** Counts the waiting attempts that may be in flight at once. */
export function heldAtOnce(circuit: Circuit, now: number): number {
  if (!isOpen(circuit)) return circuit.window;
  if (now < circuit.openUntil) return 0;
  return circuit.isExpiring ? expiringAtOnce : 1;
}
