import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import type { Account } from '../account/account.ts';
import { now, secondMs } from '../shared/clock.ts';
import { badField } from '../error/httpError.ts';
import { isWaiting } from './rules/events.ts';
import { checkEventId } from './rules/step.ts';
import { waitersOf, type Waiter } from './store/waiters.ts';
import { loadWait } from './waits/endWait.ts';
import { waiterRecord, type ShownWaiter, notifyRun } from './waits/notifyRun.ts';
import { isRunId } from './run.ts';
import { loadSnapshot } from './store/journals.ts';
import { notify } from './waits/notifyAll.ts';

/**
 * Notifies one run if the first of several segments is a run's id, or else all runs that wait for the event.
 * Clients do not escape event ids, so an id may span several segments.
 *
 * @param segments of the path, decoded
 * @throws HttpError
 */
export async function notifyAt(
  account: Account,
  segments: readonly string[],
  body: Uint8Array,
): ReturnType<typeof notify> {
  const [runId = '', ...rest] = segments;
  const mayBeOfRun = rest.length > 0 && isRunId(runId);
  const isOfRun = mayBeOfRun && (await loadSnapshot({ accountId: account.id, runId })) !== undefined;
  return isOfRun
    ? notifyRun(account, { runId, eventId: rest.join('/') }, body)
    : notify(account, segments.join('/'), body);
}

const readAtOnce = 20;
const budgetMs = 20 * secondMs;

/**
 * Lists the first waits for an event that fit into an answer, because the client has no cursor.
 *
 * @throws HttpError 400 for a malformed event id
 */
export async function listWaiters(account: Account, eventId: string): Promise<readonly ShownWaiter[]> {
  checkEventId(eventId, badField);
  const until = now() + budgetMs;
  const shown: ShownWaiter[] = [];
  let bytes = 2;
  let some: Waiter[] = [];
  /** @returns whether the answer has room for more */
  const take = async (): Promise<boolean> => {
    const found = await Promise.all(some.map(showIfWaiting));
    some = [];
    for (const waiter of found) {
      if (waiter === undefined) continue;
      bytes += jsonBytes(waiter) + 1;
      if (bytes > largestAnswer) return false;
      shown.push(waiter);
    }
    return now() < until;
  };
  for await (const waiter of waitersOf(account.id, eventId)) {
    some.push(waiter);
    if (some.length === readAtOnce && !(await take())) return shown;
  }
  await take();
  return shown;
}

/** @returns undefined if the wait has ended. Its row may remain if a process died or the run ended. */
async function showIfWaiting({ accountId, runId, seq }: Waiter): Promise<ShownWaiter | undefined> {
  const key = { accountId, runId };
  return isWaiting(await loadSnapshot(key), seq) ? waiterRecord(await loadWait(key, seq)) : undefined;
}
