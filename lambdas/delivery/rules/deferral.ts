import type { Message } from '../../message/message.ts';

/**
 * How long an attempt stays open after a 202, in milliseconds.
 *
 * @returns undefined if a 202 is an ordinary answer. An endpoint completes its deliveries of steps by its submissions.
 */
export const deferralOf = ({ deferredMs, workflow }: Message): number | undefined =>
  workflow?.role === 'list' || workflow?.role === 'callResult' ? undefined : deferredMs;
