/** A message's turn in the waiting lines that it comes to. */

/** The priorities of a message among those of its fair key, the first one first. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** The fair key and the priority of a message that names either. */
export interface Turn {
  /** Undefined for a message without one: all of these are one tenant. */
  readonly fairKey?: string | undefined;
  /** Undefined for `normal`. */
  readonly priority?: Priority | undefined;
}
