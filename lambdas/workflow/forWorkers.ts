/**
 * Modules that workers load when the first message of a run comes: few messages are of runs. It is one file for all of it, because the
 * bundler makes a part of the cold start for every set of files that several late ones share, each with lists of what it takes
 * from the others: three late files cost 3 KB of those.
 */
export { openDelivery } from './steps/openDelivery.ts';
export { failRun, noteFailureFunction, storeFailureRequest } from './failure/failRun.ts';
export { followEndOrLeave, followUpEnd } from './steps/endRun.ts';
export { failGivenUp, giveUpRunEnd, giveUpStart, giveUpWait } from './failure/giveUpRun.ts';
export { keepRunFor } from './runs/extendRun.ts';
export { lookAtWait } from './waits/checkWait.ts';
export { lookAtStart } from './steps/checkStart.ts';
