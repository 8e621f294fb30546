/** The settings of an account's circuits. */
import { hourMs, minuteMs, secondMs } from '../shared/clock.ts';

/** The rules by which an account's circuits open and close. Durations in milliseconds. */
export interface CircuitRules {
  /** Failures in a row that open a circuit. */
  readonly failures: number;
  /** The time from the opening to the first probe; after each that fails it is twice as long. */
  readonly openMs: number;
  /** The longest time between two probes. */
  readonly longestOpenMs: number;
  /** An attempt that has waited for longer than this, at a destination that was down for as long, fails permanently. */
  readonly longestWaitMs: number;
}

/** The settings of an account: seconds, as it writes them. */
export interface CircuitSettings {
  /** Whether circuits hold back its messages, unless a message, its URL group or its queue says otherwise. */
  readonly enabled: boolean;
  readonly failures?: number | undefined;
  readonly open_seconds?: number | undefined;
  readonly longest_open_seconds?: number | undefined;
  readonly longest_wait_seconds?: number | undefined;
}

const seconds = (ms: number): number => ms / secondMs;

/** The numbers of the settings, with their defaults and ranges; both ends are allowed. */
export const circuitNumbers = {
  /** A limit of one would let a single lost connection hold back a host's messages. */
  failures: { default: 5, least: 2, most: 1_000 },
  open_seconds: { default: 30, least: 1, most: seconds(hourMs) },
  longest_open_seconds: { default: seconds(10 * minuteMs), least: 1, most: seconds(hourMs) },
  // A waiting message is kept for three days at a time, and its account's dead letters for hours at least.
  longest_wait_seconds: { default: seconds(24 * hourMs), least: 60, most: seconds(7 * 24 * hourMs) },
} as const;

export function rulesOf(settings: CircuitSettings | undefined): CircuitRules {
  const numberOf = (name: keyof typeof circuitNumbers): number =>
    settings?.[name] ?? circuitNumbers[name].default;
  const openMs = numberOf('open_seconds') * secondMs;
  return {
    failures: numberOf('failures'),
    openMs,
    longestOpenMs: Math.max(openMs, numberOf('longest_open_seconds') * secondMs),
    longestWaitMs: numberOf('longest_wait_seconds') * secondMs,
  };
}
