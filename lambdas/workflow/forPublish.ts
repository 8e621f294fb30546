/** In one file for the reason in `forWorkers.ts`. */
export { publishRequests } from './steps/publish.ts';
export { refusalOfRequest, refuseWhenBusy } from './refusals.ts';
export { trigger, triggerBatch } from './steps/trigger.ts';
