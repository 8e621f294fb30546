export interface Described {
  readonly statuses: readonly [number, ...number[]];
  readonly meaning: string;
  /** The client's next step. */
  readonly advice: string;
}
