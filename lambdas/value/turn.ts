/** The priorities of messages with the same fair key, highest first. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** A fair key, a priority, or both. */
export interface Turn {
  /** Messages without a fair key are one tenant. */
  readonly fairKey?: string | undefined;
  /** Undefined means `normal`. */
  readonly priority?: Priority | undefined;
}
