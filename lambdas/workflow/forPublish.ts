/** Modules that publishing loads when the first request of a workflow comes; one file for all of it, as `forWorkers.ts` says. */
export { publishRequests } from './steps/publish.ts';
export { refuseWhenBusy } from './refuseWhenBusy.ts';
export { trigger, triggerBatch } from './steps/trigger.ts';
export { refusalOfRequest } from './steps/prepare.ts';
