/** Fails runs for reasons other than a failed delivery. */
import { ownerOf } from '../../account/owner.ts';
import { log } from '../../aws/log.ts';
import { failAttempt, giveUpAttempt } from '../../delivery/giveUp.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { isFault } from '../../job/fault.ts';
import { attemptJob, type AttemptJob, type RunRefusedJob } from '../../job/job.ts';
import { mostFaults, type GiveUpReason } from '../../job/redelivery.ts';
import { loadMessage } from '../../message/history.ts';
import { putMessage } from '../../message/messages.ts';
import { now } from '../../shared/clock.ts';
import { derivedId } from '../../shared/ids.ts';
import { isActive, type RunKey, type RunStart } from '../rules/journal.ts';
import { changeRun, settingsOfRun } from '../runs/changeRun.ts';
import { emptyBody, listMessage } from '../runs/follow.ts';
import { loadSnapshot } from '../store/journals.ts';

const causes: Readonly<Record<GiveUpReason, string>> = {
  deaths: 'Each worker died that was to see to',
  faults: `The service itself failed ${mostFaults} times with`,
};

export const sayGivenUp = (why: GiveUpReason, what: string): string =>
  `${causes[why]} ${what}; the log of the delivery workers has the errors.`;

export const errorField = (error: unknown): { readonly error: Error | string } => ({
  error: error instanceof Error ? error : String(error),
});

/**
 * Fails a run that cannot continue because one of its jobs was given up. Can be repeated.
 *
 * @param what names the job in the error
 * @throws if it must be retried
 */
export async function failGivenUp(
  key: RunKey,
  startSeq: number,
  why: GiveUpReason,
  what: string,
): Promise<void> {
  const error = sayGivenUp(why, what);
  const isFailing = await failByOwnDelivery(key, startSeq, 'given up', (job) =>
    giveUpAttempt(job, why, error),
  );
  if (isFailing)
    log.error('A run fails, because a job of it is given up', { runId: key.runId, reason: error });
}

/**
 * Fails a run after a refused request. Older clients would read the refusal as the end of the run, or retry the step forever.
 * Can be repeated.
 *
 * @throws if it must be retried
 */
export async function failRefused({
  accountId,
  runId,
  startSeq,
  code,
  reason,
}: RunRefusedJob): Promise<void> {
  // The published client's failure function reads `message`; the log shows the whole body.
  const response: DestinationResponse = {
    status: 412,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ error: code, message: reason })),
  };
  const isFailing = await failByOwnDelivery({ accountId, runId }, startSeq, 'refused', async (job) => {
    await failAttempt(job, response);
  });
  if (isFailing) log.warn('A run fails, because a request of its endpoint was refused', { runId, code });
}

/**
 * Fails a run by means of a message that is never sent, which has the failure.
 *
 * @param mark the reason, so that messages for different reasons have different ids
 * @param fail fails the message
 * @returns false if the run has ended, or its account is gone
 */
async function failByOwnDelivery(
  key: RunKey,
  startSeq: number,
  mark: string,
  fail: (job: AttemptJob) => Promise<void>,
): Promise<boolean> {
  const { accountId, runId } = key;
  const snapshot = await loadSnapshot(key);
  if (snapshot?.startSeq !== startSeq) return false;
  const messageId = derivedId('msg', snapshot.createdAt, JSON.stringify([accountId, runId, startSeq, mark]));
  if (!isActive(snapshot)) {
    // An earlier process may have ended the run and died before the work that follows.
    const before = await loadMessage({ accountId, messageId });
    if (before !== undefined) await fail(attemptJob(before.message, 0));
    return false;
  }
  const account = await ownerOf({ accountId, messageId: runId });
  if (account === undefined) return false;
  let start: RunStart;
  try {
    start = await settingsOfRun(key, snapshot);
  } catch (unreadable) {
    if (!isFault(unreadable)) throw unreadable;
    await endUnreadable(key, startSeq, unreadable);
    return true;
  }
  const time = now();
  const made = listMessage({ key, snapshot, start }, account, {
    messageId,
    url: start.url,
    createdAt: time,
    notBefore: time,
  });
  const message = { ...made, flowControl: undefined };
  if ((await loadMessage(message)) === undefined) await putMessage(message, emptyBody);
  await fail(attemptJob(message, 0));
  return true;
}

/**
 * Ends a run whose records cannot be read. Its failure is not reported, but later submissions are refused.
 */
async function endUnreadable(key: RunKey, startSeq: number, unreadable: unknown): Promise<void> {
  await changeRun(key, (snapshot) =>
    snapshot?.startSeq === startSeq && isActive(snapshot)
      ? { record: { kind: 'end', at: now(), state: 'RUN_FAILED' } }
      : undefined,
  );
  log.error('A run has ended whose settings cannot be read', { runId: key.runId, ...errorField(unreadable) });
}
