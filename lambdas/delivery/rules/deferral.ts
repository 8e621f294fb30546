import type { Message } from '../../message/message.ts';

/**
 * Finds for how long an attempt stays open that was answered with 202, in milliseconds.
 *
 * @returns undefined where a 202 is an answer like any other. An endpoint completes its deliveries of steps by what it submits.
 */
export const deferralOf = ({ deferredMs, workflow }: Message): number | undefined =>
  workflow?.role === 'list' || workflow?.role === 'callResult' ? undefined : deferredMs;
