/** Fails runs that cannot go on, because a job of theirs is given up. */
import { ownerOf } from '../../account/owner.ts';
import { log } from '../../aws/log.ts';
import { giveUpAttempt } from '../../delivery/giveUp.ts';
import { isFault } from '../../job/fault.ts';
import { attemptJob } from '../../job/job.ts';
import { mostFaults, type GiveUpReason } from '../../job/redelivery.ts';
import { loadMessage } from '../../message/history.ts';
import { putMessage } from '../../message/messages.ts';
import { now } from '../../shared/clock.ts';
import { derivedId } from '../../shared/ids.ts';
import { isActive, type RunKey, type RunStart } from '../rules/journal.ts';
import { changeRun, settingsOfRun, type Decision } from '../runs/changeRun.ts';
import { emptyBody, listMessage } from '../runs/follow.ts';
import { loadSnapshot } from '../store/journals.ts';

const causes: Readonly<Record<GiveUpReason, string>> = {
  deaths: 'Each worker died that was to see to',
  faults: `The service itself failed ${mostFaults} times with`,
};

/** The sentence that tells of a job that is given up. */
export const sayGivenUp = (why: GiveUpReason, what: string): string =>
  `${causes[why]} ${what}; the log of the delivery workers has the errors.`;

export const errorField = (error: unknown): { readonly error: Error | string } => ({
  error: error instanceof Error ? error : String(error),
});

/**
 * Fails a run that cannot go on, unless it has ended: with a dead letter, and its failure function is called. May be repeated
 * without harm.
 *
 * It fails as any run does, by a delivery that has failed for good: one that is made for this alone, and never sent.
 *
 * @param what the job that is given up, as the error names it
 * @throws when that has to be done again
 */
export async function failGivenUp(
  key: RunKey,
  startSeq: number,
  why: GiveUpReason,
  what: string,
): Promise<void> {
  const snapshot = await loadSnapshot(key);
  if (snapshot?.startSeq !== startSeq || !isActive(snapshot)) return;
  const { accountId, runId } = key;
  const account = await ownerOf({ accountId, messageId: runId });
  if (account === undefined) return;
  const error = sayGivenUp(why, what);
  log.error('A run fails, because a job of it is given up', { runId, reason: error });
  let start: RunStart;
  try {
    start = await settingsOfRun(key, snapshot);
  } catch (unreadable) {
    if (!isFault(unreadable)) throw unreadable;
    await endUnreadable(key, startSeq, unreadable);
    return;
  }
  const messageId = derivedId(
    'msg',
    snapshot.createdAt,
    JSON.stringify([accountId, runId, startSeq, 'given up']),
  );
  const time = now();
  const made = listMessage({ key, snapshot, start }, account, {
    messageId,
    url: start.url,
    createdAt: time,
    notBefore: time,
  });
  // The message takes no slot of a lane.
  const message = { ...made, flowControl: undefined };
  if ((await loadMessage(message)) === undefined) await putMessage(message, emptyBody);
  await giveUpAttempt(attemptJob(message, 0), why, error);
}

/** Ends a run whose settings cannot be read: nobody can be told, but submissions to it are refused from now on. */
async function endUnreadable(key: RunKey, startSeq: number, unreadable: unknown): Promise<void> {
  await changeRun(key, (snapshot): Decision<undefined> => {
    if (snapshot?.startSeq !== startSeq || !isActive(snapshot)) return { result: undefined };
    return { record: { kind: 'end', at: now(), state: 'RUN_FAILED' }, result: undefined };
  });
  log.error('A run has ended whose settings cannot be read', { runId: key.runId, ...errorField(unreadable) });
}
