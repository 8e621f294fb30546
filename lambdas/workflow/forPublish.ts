/** Modules that publishing loads when the first request of a workflow comes; one file for all of it, as `forWorkers.ts` says. */
export { publishRequests } from './publish.ts';
export { refuseWhenBusy } from './runs/refuseWhenBusy.ts';
export { trigger, triggerBatch } from './trigger.ts';
export { refusalOfRequest } from './steps/prepare.ts';
