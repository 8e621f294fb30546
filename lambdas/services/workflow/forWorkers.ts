/**
 * Modules that workers load when the first message of a run comes: few messages are of runs. It is one file for all of it, because the
 * bundler makes a part of the cold start for every set of files that several late ones share, each with lists of what it takes
 * from the others: three late files cost 3 KB of those.
 */
export { openDelivery } from './openDelivery.ts';
export { failRun, noteFailureFunction, storeFailureRequest } from './failRun.ts';
export { followEndOrLeave, followUpEnd } from './endRun.ts';
export { failGivenUp, giveUpRunEnd, giveUpWait } from './giveUpRun.ts';
export { keepRunFor } from './keepRun.ts';
export { lookAtWait } from './lookAtWait.ts';
