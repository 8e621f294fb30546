/** The states and kinds that answers and filters name. They are constants only, so that the console and every bundle may have them. */

/** The states that the log has, in the order in which a message passes them. */
export const logStates = [
  'CREATED',
  // The message waits for its host, which is down: see docs/lanes.md.
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

/** The states of a message, in the order in which it passes them; it ends in one of the last three. */
export const messageStates = ['CREATED', 'ACTIVE', 'RETRY', 'DELIVERED', 'FAILED', 'CANCELED'] as const;
export type MessageState = (typeof messageStates)[number];

/** The states of a message that waits for an attempt, or for the completion of one. */
export const waitingStates = ['CREATED', 'ACTIVE', 'RETRY'] as const satisfies readonly MessageState[];

/** The states of a run in the order in which they are passed; one of the last three is the end. */
export const runStates = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export type RunState = (typeof runStates)[number];

/** The states of a step as the log shows it, in the order in which they are passed; one of the last three is the end. */
export const stepStates = [
  'STEP_PROGRESS',
  'STEP_RETRY',
  'STEP_SUCCESS',
  'STEP_FAILED',
  'STEP_CANCELED',
] as const;
export type StepState = (typeof stepStates)[number];

/** The states of a failure function in the order in which they are passed; a run without one has none. */
export const failureFunctionStates = [
  'CALLBACK_INPROGRESS',
  'CALLBACK_SUCCESS',
  'CALLBACK_FAIL',
  'CALLBACK_CANCELED',
] as const;
export type FailureFunctionState = (typeof failureFunctionStates)[number];

/** The types of steps as the workflow client names them. */
export const stepTypes = [
  'Initial',
  'Run',
  'SleepFor',
  'SleepUntil',
  'Call',
  'Wait',
  'Notify',
  'Invoke',
  'CreateWebhook',
  'WaitForWebhook',
] as const;
export type StepType = (typeof stepTypes)[number];

/** The roles of a run's messages as headers and records name them. */
export const callTypes = ['step', 'toCallback', 'fromCallback', 'failureCall'] as const;
export type CallType = (typeof callTypes)[number];

/** The kinds of messages: those that somebody published, callbacks, and the messages of runs. */
export const messageKinds = ['published', 'callback', 'run'] as const;
export type MessageKind = (typeof messageKinds)[number];
