export interface Described {
  /** The statuses that the code has. */
  readonly statuses: readonly [number, ...number[]];
  /** The refusal, and its reason. */
  readonly meaning: string;
  /** The client's next step. */
  readonly advice: string;
}
