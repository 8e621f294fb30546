/** A name of an account's own that messages are sent under. (SQS's queues, which carry pointers, are something else.) */
export interface Queue {
  readonly accountId: string;
  readonly name: string;
  /** Deliveries in flight at once. */
  readonly parallelism: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Raised by each change. */
  readonly version: number;
}

/** What a queue is that nobody has set anything of. */
export const newQueue = (accountId: string, name: string, createdAt: number): Queue => ({
  accountId,
  name,
  parallelism: 1,
  createdAt,
  updatedAt: createdAt,
  version: 1,
});
