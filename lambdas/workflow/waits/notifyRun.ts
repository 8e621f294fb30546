import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import type { Account } from '../../account/account.ts';
import { notFound, quote, type HttpError } from '../../error/httpError.ts';
import { checkCapacityForEvent, waitsFor } from '../rules/events.ts';
import { isRunId } from '../run.ts';
import { checkEvent, giveEvent } from './giveEvent.ts';
import { loadWait } from './endWait.ts';
import { secondMs } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { shownHeaders } from '../../shared/headers.ts';
import { isActive, type RunKey, type WaitRecord } from '../rules/journal.ts';
import { settingsOfRun } from '../runs/changeRun.ts';
import { loadSnapshot } from '../store/journals.ts';

export type ShownWaiter = Answer<typeof answers.waiter>;

export const waiterRecord = (wait: WaitRecord): ShownWaiter => ({
  url: shownUrl(wait.url),
  deadline: Math.ceil(wait.deadline / secondMs),
  headers: shownHeaders(wait.headers),
  timeoutUrl: shownUrl(wait.timeoutUrl),
  timeoutHeaders: shownHeaders(wait.timeoutHeaders),
});

export type Notification = Answer<typeof answers.notification>;

/**
 * Notifies one run. The oldest wait for the event ends with it. If no step waits, the event is stored for the
 * next wait. A repeated notification counts twice.
 *
 * @returns one item, without a waiter if the event is stored
 * @throws HttpError 404 if the run has ended or is unknown, 403 outside the scope of the request's token, 412
 * if it stores too many events or its list would be too long, 413; 429 or 412 above a limit of the account
 * @throws RunBusy
 */
export async function notifyRun(
  account: Account,
  { runId, eventId }: { readonly runId: string; readonly eventId: string },
  event: Uint8Array,
): Promise<readonly Notification[]> {
  checkEvent(account, eventId, event);
  const noActiveRun = (): HttpError => notFound('run_not_found', `There is no active run ${quote(runId)}.`);
  if (!isRunId(runId)) throw noActiveRun();
  const key = { accountId: account.id, runId };
  await refuseBeyondScope(account, key);
  const { messageId, createdAt, wait } = await giveEvent(account, key, {
    eventId,
    event,
    noActiveRun,
    findWait: (snapshot) => Promise.resolve(waitsFor(snapshot, eventId)[0]?.seq),
    loadWait: (seq) => loadWait(key, seq),
    checkKept: checkCapacityForEvent,
  });
  const run = { workflowRunId: runId, workflowCreatedAt: createdAt };
  return [{ waiter: wait && waiterRecord(wait), messageId, error: '', ...run }];
}

/** A token with a scope may notify only runs at its own destinations. For other tokens, the run's start is not read. */
async function refuseBeyondScope({ scope }: Account, key: RunKey): Promise<void> {
  if (scope === undefined) return;
  const snapshot = await loadSnapshot(key);
  if (isActive(snapshot)) scope.refuse("The run's endpoint", (await settingsOfRun(key, snapshot)).url);
}
