/**
 * Holds the messages of an invocation that takes longer than most. Two calls that a quick invocation saves:
 *
 * - What is still under way is hidden until the invocation has surely ended. A queue hides a message for longer, counted from its
 *   receive. So a message whose invocation begins late stays hidden, and one whose worker dies comes back soon. An invocation that
 *   may take longer than a quarter of an hour hides it for a few minutes, and again and again.
 * - What is done is deleted, and does not wait for the slowest of its batch: should the worker die, it does not come again.
 */
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { functionSecondsOf, holdAfterMs } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import type { Source } from '../job/receipt.ts';
import { now, secondMs } from '../shared/clock.ts';
import { chunksOf } from '../shared/lists.ts';

/** The time between two looks at what is done. */
const deleteEveryMs = 2 * secondMs;
/** SQS takes 10 messages at once. */
const messagesPerCall = 10;

/** The time between the end of an invocation and the return of what it has not done. */
const marginSeconds = 10;
/** The longest function whose messages are hidden once for all of its time. */
const longestHiddenOnceSeconds = 900;
/** The messages of longer ones are hidden for this long, and again in time for two renewals to fail. */
const heldSeconds = 300;
const renewEveryMs = 90 * secondMs;

export interface Hold {
  /** Resolves when work may begin: at once, unless a message may have killed a worker before. */
  readonly ready: Promise<void>;
  /** Takes a message that is done. */
  readonly done: (record: SQSRecord) => void;
  /** Resolves when no call is under way any more. */
  readonly end: () => Promise<void>;
}

/** Begins to hold the messages of an invocation, which has just started. */
export function hold(records: readonly SQSRecord[], source: Source): Hold {
  const underWay = new Set(records);
  let toDelete: SQSRecord[] = [];
  let calls: Promise<void> = Promise.resolve();
  const functionSeconds = functionSecondsOf(source.name, settings.longestTimeoutSeconds);
  const isRenewed = functionSeconds > longestHiddenOnceSeconds;
  const hiddenSeconds = isRenewed ? heldSeconds : functionSeconds + marginSeconds;

  const inCalls = async (held: readonly SQSRecord[], call: 'hide' | 'remove'): Promise<void> => {
    try {
      const { hide, remove } = await import('./holdCalls.ts');
      for (const some of chunksOf(held, messagesPerCall)) {
        await (call === 'hide' ? hide(source, some, hiddenSeconds) : remove(source, some));
      }
    } catch (error) {
      log.warn('Messages of a long invocation could not be held', {
        error: error instanceof Error ? error : String(error),
      });
    }
  };
  const then = (work: () => Promise<void>): void => {
    calls = calls.then(work);
  };
  const hideAll = (): void => {
    then(() => inCalls([...underWay], 'hide'));
  };
  const first = isSuspect(records, source.name) ? undefined : setTimeout(hideAll, holdAfterMs);
  if (first === undefined) hideAll();
  const ready = calls;
  const endsAt = now() + functionSeconds * secondMs;
  const renewals = isRenewed ? setInterval(renew, renewEveryMs) : undefined;
  // Lambda does not end the code of an invocation that is late on a managed instance. Another worker gets its messages.
  function renew(): void {
    if (now() < endsAt) hideAll();
    else clearInterval(renewals);
  }
  const deleteDone = (): void => {
    if (toDelete.length === 0 || underWay.size === 0) return;
    const deleted = toDelete;
    toDelete = [];
    then(() => inCalls(deleted, 'remove'));
  };
  // A message alone has no others that wait for it. Thousands may wait for their answers on one machine, at no cost.
  const others = records.length > 1 ? setInterval(deleteDone, deleteEveryMs) : undefined;

  return {
    ready,
    done: (record) => {
      underWay.delete(record);
      toDelete.push(record);
    },
    end: async () => {
      clearTimeout(first);
      clearInterval(renewals);
      clearInterval(others);
      await calls;
    },
  };
}

/** Whether a job may have killed a worker: it is to come back soon even from one that dies at once. */
const isSuspect = (records: readonly SQSRecord[], name: Source['name']): boolean =>
  name === 'dead' || records.some(({ attributes }) => Number(attributes.ApproximateReceiveCount) > 1);
