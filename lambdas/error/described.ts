export interface Described {
  readonly statuses: readonly [number, ...number[]];
  readonly meaning: string;
  /** The next step for the client. */
  readonly advice: string;
}
