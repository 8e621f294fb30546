/** The states that the log has, in the order in which a message passes them. */
export const logStates = [
  'CREATED',
  'ACTIVE',
  'RETRY',
  'ERROR',
  'DELIVERED',
  'FAILED',
  'CANCEL_REQUESTED',
  'CANCELED',
] as const;
export type LogState = (typeof logStates)[number];
