/** Only constants, so that the console and all bundles can contain this file. */

/** The states in the log, in the order in which a message can have them. */
export const logStates = [
  'CREATED',
  // The message waits because its host is down: see docs/lanes.md.
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

/** The states of a message, in order. The last three are final. */
export const messageStates = ['CREATED', 'ACTIVE', 'RETRY', 'DELIVERED', 'FAILED', 'CANCELED'] as const;
export type MessageState = (typeof messageStates)[number];

export const waitingStates = ['CREATED', 'ACTIVE', 'RETRY'] as const satisfies readonly MessageState[];

/** The states of a run, in order. The last three are final. */
export const runStates = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export type RunState = (typeof runStates)[number];

/** Filters for active runs by what they wait for: nothing that is pending, a time, or an event. */
export const runWaits = ['RUN_HANGING', 'RUN_SLEEPING', 'RUN_WAITING'] as const;
export type RunWait = (typeof runWaits)[number];

/** The states of a step in the log, in order. The last three are final. */
export const stepStates = [
  'STEP_PROGRESS',
  'STEP_RETRY',
  'STEP_SUCCESS',
  'STEP_FAILED',
  'STEP_CANCELED',
] as const;
export type StepState = (typeof stepStates)[number];

/** The states of a failure function, in order. A run without a failure function has no such state. */
export const failureFunctionStates = [
  'CALLBACK_INPROGRESS',
  'CALLBACK_SUCCESS',
  'CALLBACK_FAIL',
  'CALLBACK_CANCELED',
] as const;
export type FailureFunctionState = (typeof failureFunctionStates)[number];

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

export const callTypes = ['step', 'toCallback', 'fromCallback', 'failureCall'] as const;
export type CallType = (typeof callTypes)[number];

export const messageKinds = ['published', 'callback', 'run'] as const;
export type MessageKind = (typeof messageKinds)[number];

/** The kinds of holds. */
export const heldKinds = ['host', 'label', 'urlGroup', 'account'] as const;
export type HeldKind = (typeof heldKinds)[number];
