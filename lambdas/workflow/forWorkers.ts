/**
 * Modules that workers load when the first message of a run comes: few messages are of runs. It is one file for all of it, because the
 * bundler makes a part of the cold start for every set of files that several late ones share, each with lists of what it takes
 * from the others: three late files cost 3 KB of those.
 */
export { messageKind } from './messageKind.ts';
export { followUpEnd } from './steps/endRun.ts';
export { giveUpRunEnd, giveUpStart, giveUpWait } from './failure/giveUpRun.ts';
export { lookAtWait } from './waits/checkWait.ts';
export { lookAtStart } from './steps/checkStart.ts';
