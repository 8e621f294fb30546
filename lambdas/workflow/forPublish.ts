/** The code that publishing needs from workflows, in one file for the reason in `forWorkers.ts`. */
export { publishRequests } from './steps/publishParts.ts';
export { refusalOfRequest, refuseWhenBusy } from './refusedRequests.ts';
export { trigger, triggerBatch } from './steps/trigger.ts';
