/** Apart from `step.ts`, so that the shapes of answers do not load what reads submissions. */

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
