/** Apart from `failure.ts`, so that the rows of runs and dead letters, which every worker knows, do not load the rest of it. */

/** The states of a failure function in the order in which they are passed; a run without one has none. */
export const failureFunctionStates = [
  'CALLBACK_INPROGRESS',
  'CALLBACK_SUCCESS',
  'CALLBACK_FAIL',
  'CALLBACK_CANCELED',
] as const;
export type FailureFunctionState = (typeof failureFunctionStates)[number];
