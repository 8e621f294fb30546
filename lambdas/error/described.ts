/** The description of a code. */
export interface Described {
  /** The statuses that it comes with. */
  readonly statuses: readonly [number, ...number[]];
  /** What was refused, and why. */
  readonly meaning: string;
  /** What the client can do. */
  readonly advice: string;
}
