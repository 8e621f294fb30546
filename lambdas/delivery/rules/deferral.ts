import type { Message } from '../../message/message.ts';

/**
 * How long an attempt stays open after a 202, in milliseconds.
 *
 * @returns undefined if a 202 is an ordinary answer. An endpoint completes the deliveries of steps by
 * submitting the next ones.
 */
export const deferralOf = ({ deferredMs, workflow }: Message): number | undefined =>
  workflow?.role === 'list' || workflow?.role === 'callResult' ? undefined : deferredMs;
