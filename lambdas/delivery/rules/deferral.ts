import { isPull } from '../../destination/pull.ts';
import type { Message } from '../../message/message.ts';

export { isPull };

/**
 * How long an attempt stays open after a 202, in milliseconds.
 *
 * @returns undefined if a 202 is an ordinary answer. An endpoint completes its deliveries of steps by its submissions.
 */
export const deferralOf = ({ deferredMs, workflow, url }: Message): number | undefined =>
  workflow?.role === 'list' || workflow?.role === 'callResult' || isPull(url) ? undefined : deferredMs;
