import * as z from 'zod/mini';
import { hourMs, minuteMs, secondMs } from '../shared/clock.ts';

/** Durations (ms). */
export interface CircuitRules {
  /** How many consecutive failures open a circuit. */
  readonly failures: number;
  /** The time until the first probe. Doubled after each failed probe. */
  readonly openMs: number;
  /** The longest time between two probes. */
  readonly longestOpenMs: number;
  /** An attempt that has waited longer than this fails, if its host was down all the time. */
  readonly longestWaitMs: number;
}

/** An account's settings, in seconds. */
export const circuitSettings = z.object({
  /** Whether circuits hold messages back, unless a message, its URL group or its queue decides otherwise. */
  enabled: z.boolean(),
  failures: z.optional(z.number()),
  open_seconds: z.optional(z.number()),
  longest_open_seconds: z.optional(z.number()),
  longest_wait_seconds: z.optional(z.number()),
});
export type CircuitSettings = Readonly<z.infer<typeof circuitSettings>>;

const seconds = (ms: number): number => ms / secondMs;

/** The numbers of the settings, with their defaults and inclusive ranges. */
export const circuitNumbers = {
  /** If one failure were enough, a single lost connection would hold back a host's messages. */
  failures: { default: 5, least: 2, most: 1_000 },
  open_seconds: { default: 30, least: 1, most: seconds(hourMs) },
  longest_open_seconds: { default: seconds(10 * minuteMs), least: 1, most: seconds(hourMs) },
  // The lifetime of a waiting message is extended by three days at a time, and dead letters are kept for
  // hours at least.
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
