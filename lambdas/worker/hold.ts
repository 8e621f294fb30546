/**
 * Holds the messages of a long invocation:
 *
 * - Unfinished messages are hidden until the invocation must have ended. A queue's own visibility timeout counts from the
 *   receive, which may be much earlier.
 * - Finished messages are deleted at once, so that they are not retried if the worker dies.
 */
import type { SQSRecord } from 'aws-lambda';
import { log } from '../aws/log.ts';
import { functionSecondsOf, holdAfterMs } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import type { Source } from '../job/receipt.ts';
import { now, secondMs } from '../shared/clock.ts';
import { chunksOf } from '../shared/lists.ts';

/** How often finished messages are deleted. */
const deleteEveryMs = 2 * secondMs;
/** The limit of SQS. */
const messagesPerCall = 10;

/** The time from an invocation's end until its unfinished messages are visible again. */
const marginSeconds = 10;
/** If a function's timeout is at most this long, its messages are hidden once, for the whole invocation. */
const longestHiddenOnceSeconds = 900;
/** Other functions hide their messages for this long, again and again. Two renewals in a row may fail. */
const heldSeconds = 300;
const renewEveryMs = 90 * secondMs;

interface Hold {
  /** Resolves when work may begin: at once, unless one of the messages may have killed a worker before. */
  readonly ready: Promise<void>;
  readonly done: (record: SQSRecord) => void;
  /** Resolves when all calls have finished. */
  readonly end: () => Promise<void>;
}

/** @param records messages of an invocation that has just started */
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
  // On a managed instance, the code of a late invocation runs on, although another worker gets its messages.
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
  // A single message is deleted by Lambda when the invocation ends.
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

/** Whether a job may have killed a worker. Such a job is retried soon if its worker dies at once. */
const isSuspect = (records: readonly SQSRecord[], name: Source['name']): boolean =>
  name === 'dead' || records.some(({ attributes }) => Number(attributes.ApproximateReceiveCount) > 1);
