/** The states of a step as the log shows it, in the order in which they are passed; one of the last three is the end. */
export const stepStates = [
  'STEP_PROGRESS',
  'STEP_RETRY',
  'STEP_SUCCESS',
  'STEP_FAILED',
  'STEP_CANCELED',
] as const;
export type StepState = (typeof stepStates)[number];
