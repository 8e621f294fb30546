import { isPull } from '../../destination/pull.ts';
import type { Message, OpenAttempt } from '../../message/message.ts';
import { formatDuration } from '../../value/duration.ts';

/**
 * How long an attempt stays open after a 202, in milliseconds.
 *
 * @returns undefined if a 202 is an ordinary answer. An endpoint completes the deliveries of steps by
 * submitting the next ones.
 */
export const deferralOf = ({ deferredMs, workflow, url }: Message): number | undefined =>
  workflow?.role === 'list' || workflow?.role === 'callResult' || isPull(url) ? undefined : deferredMs;

/** The error of an attempt whose time is over. */
export function endedBecause(
  { deferredMs = 0, url }: Message,
  { isOffered, startedAt, until }: OpenAttempt,
): string {
  const within = formatDuration(deferredMs);
  if (isOffered === true) return `No client took the message within ${within}.`;
  if (!isPull(url)) return `The destination answered 202 and did not complete the attempt within ${within}.`;
  return `The client that took the message did not complete it within ${formatDuration(until - startedAt)}.`;
}
