/** The description of a code. */
export interface Described {
  /** The statuses with which the code comes. */
  readonly statuses: readonly [number, ...number[]];
  /** The refusal, and its reason. */
  readonly meaning: string;
  /** The client's next step. */
  readonly advice: string;
}
