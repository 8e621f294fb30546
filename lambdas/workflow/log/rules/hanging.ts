/** A run hangs if it is active but nothing is pending that would continue it. */
import { minuteMs } from '../../../shared/clock.ts';
import { isActive, type JournalRecord, type Snapshot } from '../../rules/journal.ts';
import { hasStep } from '../../rules/placing.ts';
import { madeRequests } from './requests.ts';
import type { MadeRequest, RunMessage } from './runMessage.ts';

/**
 * A run does not count as hanging before this time, because an endpoint may submit a step a moment after its
 * answer.
 */
export const quietMs = minuteMs;

export interface Hanging {
  /** When the run began to hang. */
  readonly since: number;
  readonly last: MadeRequest | undefined;
}

export const isAwaiting = ({ waits, steps }: Snapshot): boolean =>
  waits.length > 0 || (steps.invoke ?? '') !== '';

const hasResult = ({ step: { stepId = 0 } }: RunMessage, { steps }: Snapshot): boolean =>
  hasStep(steps, 'result', stepId);

/**
 * Whether a message may still be delivered. An expired message counts only if its delivery would continue the
 * run.
 */
function isPending(message: RunMessage, isNewest: boolean, snapshot: Snapshot): boolean {
  const isOpen = ({ end }: Pick<RunMessage, 'end'>): boolean => end === undefined;
  const isRetried = isOpen(message) && message.failures.length > 0;
  switch (message.kind) {
    case 'wait':
    case 'invoke':
      return false;
    case 'plan':
      return isRetried || (isOpen(message) && !hasResult(message, snapshot));
    case 'call': {
      const { callback } = message;
      if (hasResult(message, snapshot))
        return callback !== undefined && isOpen(callback) && callback.failures.length > 0;
      return callback === undefined || isOpen(callback);
    }
    case 'initial':
    case 'result':
      return isRetried || (isOpen(message) && isNewest);
    default:
      return message.kind satisfies never;
  }
}

/**
 * @param messages in the order of acceptance
 * @param at now
 */
export function hangingOf(
  snapshot: Snapshot,
  records: readonly JournalRecord[],
  messages: readonly RunMessage[],
  at: number,
): Hanging | undefined {
  if (!isActive(snapshot) || isAwaiting(snapshot)) return undefined;
  const hasOpenBranch = messages.some((message) => message.kind === 'plan' && !hasResult(message, snapshot));
  // A run that was resumed within a parallel group does not deliver the entry before the group.
  const newest = hasOpenBranch
    ? undefined
    : messages.findLast(({ kind }) => kind === 'initial' || kind === 'result');
  if (messages.some((message) => isPending(message, message === newest, snapshot))) return undefined;
  const last = madeRequests(messages).at(-1);
  const since = Math.max(last?.endedAt ?? 0, ...records.map((record) => record.at));
  return since > at - quietMs ? undefined : { since, last };
}
