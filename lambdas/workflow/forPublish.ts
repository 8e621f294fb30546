/** The modules that publishing loads when the first request of a workflow comes. One file for all: `forWorkers.ts` says why. */
export { publishRequests } from './steps/publish.ts';
export { refusalOfRequest, refuseWhenBusy } from './refusals.ts';
export { trigger, triggerBatch } from './steps/trigger.ts';
