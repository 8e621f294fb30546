/** Notifications for one run. */
import { checkBodySize } from '../../domain/message/bodySize.ts';
import type { Answer } from '../../api/answers.ts';
import type * as answers from '../../api/workflowAnswers.ts';
import type { Account } from '../../domain/account/account.ts';
import { now } from '../../domain/clock.ts';
import { notFound, quote, type HttpError } from '../../domain/httpError.ts';
import { newId } from '../../domain/ids.ts';
import { checkEventId, checkRoomForEvent, oldestWait } from '../../domain/workflow/events.ts';
import type { Head } from '../../domain/workflow/journal.ts';
import { hasEnded, isRunId } from '../../domain/workflow/run.ts';
import type { StoredBody } from '../../domain/message/storedBody.ts';
import type { RunKey } from '../../stores/workflow/journals.ts';
import { withAdmission } from '../usage/admission.ts';
import { changeRun, type Decision } from './changeRun.ts';
import { storeEntryBody } from './entryBodies.ts';
import { followEnds, loadWait, sendLooks } from './endWait.ts';
import { oneMessage, type OneMessage } from './oneMessage.ts';
import { waiterRecord } from './waiters.ts';
import { wakingOf, type Woken } from './wakeWaits.ts';

export type Notification = Answer<typeof answers.notification>;

/**
 * Notifies one run: the wait that began first for the event ends with it; where there is none, the event is stored for the next
 * one. Sent twice, it counts twice.
 *
 * @returns one item; without a waiter where the event is stored
 * @throws HttpError 404 where the run has ended or is not known, 412 where it stores too many events, or its list would be too
 * long, 413; 429 or 412 above a limit of the account
 * @throws RunBusy
 */
export async function notifyRun(
  account: Account,
  to: { readonly runId: string; readonly eventId: string },
  body: Uint8Array,
): Promise<readonly Notification[]> {
  checkBodySize(account, body);
  return [await giveEvent(account, to, body)];
}

/**
 * Gives a run an event, however large it is.
 *
 * @throws as {@link notifyRun}
 */
export async function giveEvent(
  account: Account,
  { runId, eventId }: { readonly runId: string; readonly eventId: string },
  event: Uint8Array,
): Promise<Notification> {
  checkEventId(eventId);
  if (!isRunId(runId)) throw noActiveRun(runId);
  const key: RunKey = { accountId: account.id, runId };
  const messageId = newId('msg', now(), account.shards);
  const { record, head, result } = await withAdmission(account, 1, (admission) => {
    const decide = deciderOf(account, key, { eventId, messageId, event }, oneMessage(admission));
    return changeRun(key, (current) => decide(activeRun(current, runId)));
  });
  const { createdAt } = activeRun(head, runId);
  const run = { workflowRunId: runId, workflowCreatedAt: createdAt };
  const [woken] = result;
  if (woken === undefined || head === undefined || record?.kind !== 'steps') {
    return { messageId, error: '', ...run };
  }
  await followEnds(account, [{ key, head, record, places: [woken] }], false);
  return {
    waiter: waiterRecord(woken.wait),
    messageId: woken.result.entry.messageId,
    error: '',
    ...run,
  };
}

const noActiveRun = (runId: string): HttpError =>
  notFound('run_not_found', `There is no active run ${quote(runId)}.`);

function activeRun(head: Head | undefined, runId: string): Head {
  if (head === undefined || hasEnded(head.state)) throw noActiveRun(runId);
  return head;
}

/** Makes the function that decides what an event does to a run. */
function deciderOf(
  account: Account,
  key: RunKey,
  { eventId, messageId, event }: { eventId: string; messageId: string; event: Uint8Array },
  message: OneMessage,
): (head: Head) => Promise<Decision<readonly Woken[]>> {
  const waking = wakingOf(account, key, event, async (seq) => {
    await sendLooks([{ ...key, seq }]);
    return loadWait(key, seq);
  });
  let stored: { readonly body: StoredBody; readonly keptUntil: number } | undefined;
  return async (head) => {
    const wait = oldestWait(head, eventId);
    if (wait !== undefined) {
      message.admit();
      return waking.decide(head, [wait.seq]);
    }
    message.drop();
    checkRoomForEvent(head);
    const { accountId } = key;
    const { keptUntil } = head;
    if (stored === undefined || stored.keptUntil < keptUntil) {
      const body = await storeEntryBody({ accountId, messageId, expiresAt: keptUntil }, event, now());
      stored = { body, keptUntil };
    }
    const record = { kind: 'event', at: now(), eventId, messageId, body: stored.body } as const;
    return { record, result: [] };
  };
}
