/** The states that the log has, in the order in which a message passes them. */
export const logStates = [
  'CREATED',
  // It waits for its host, which is down: see docs/circuits.md.
  'HELD',
  'ACTIVE',
  'RETRY',
  'ERROR',
  'DELIVERED',
  'FAILED',
  'CANCEL_REQUESTED',
  'CANCELED',
] as const;
export type LogState = (typeof logStates)[number];
