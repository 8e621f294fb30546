/** Tells whether a run hangs: it is active, but nothing is pending that would let it go on. */
import { minuteMs } from '../../../shared/clock.ts';
import { isActive, type JournalRecord, type Snapshot } from '../../rules/journal.ts';
import { hasStep } from '../../rules/placing.ts';
import { madeRequests } from './requests.ts';
import type { MadeRequest, RunMessage } from './runRecord.ts';

/** An endpoint may submit a step a moment after its answer, so a run hangs only after this time. */
export const quietMs = minuteMs;

export interface Hanging {
  /** Unix milliseconds: nothing has been pending since. */
  readonly since: number;
  /** The last request to the endpoint. */
  readonly last: MadeRequest | undefined;
}

/** Whether something is awaited that has no message: an event, or the end of an invoked run. */
export const isAwaiting = ({ waits, steps }: Snapshot): boolean =>
  waits.length > 0 || (steps.invoke ?? '') !== '';

/** Whether a delivery of a message may still come. An old one may have lost its records, so only those that could go on count without a record. */
function isPending(message: RunMessage, isNewest: boolean, { steps }: Snapshot): boolean {
  const isOpen = ({ end }: Pick<RunMessage, 'end'>): boolean => end === undefined;
  const isRetried = isOpen(message) && message.failures.length > 0;
  switch (message.kind) {
    case 'wait':
    case 'invoke':
      return false;
    case 'plan':
    case 'call': {
      const hasResult = hasStep(steps, 'result', message.step.stepId);
      if (message.kind === 'plan') return isRetried || (isOpen(message) && !hasResult);
      const { callback } = message;
      if (hasResult) return callback !== undefined && isOpen(callback) && callback.failures.length > 0;
      return callback === undefined || isOpen(callback);
    }
    case 'initial':
    case 'result':
      return isRetried || (isOpen(message) && isNewest);
    default:
      return message satisfies never;
  }
}

/**
 * Finds out whether a run hangs.
 *
 * @param messages in the order in which they were accepted
 * @param at Unix milliseconds, now
 */
export function hangingOf(
  snapshot: Snapshot,
  records: readonly JournalRecord[],
  messages: readonly RunMessage[],
  at: number,
): Hanging | undefined {
  if (!isActive(snapshot) || isAwaiting(snapshot)) return undefined;
  const hasOpenBranch = messages.some(
    (message) => message.kind === 'plan' && !hasStep(snapshot.steps, 'result', message.step.stepId),
  );
  // Only the branches go on then: a run that was resumed within a parallel group has no delivery of the entry before it.
  const newest = hasOpenBranch
    ? undefined
    : messages.findLast(({ kind }) => kind === 'initial' || kind === 'result');
  if (messages.some((message) => isPending(message, message === newest, snapshot))) return undefined;
  const last = madeRequests(messages).at(-1);
  const since = Math.max(last?.endedAt ?? 0, ...records.map((record) => record.at));
  return since > at - quietMs ? undefined : { since, last };
}
