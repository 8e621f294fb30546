import type { Account } from '../account/account.ts';
import { rulesOf } from '../circuit/settings.ts';
import { noAnswer, type DestinationResponse } from '../destination/response.ts';
import { now, secondMs } from '../shared/clock.ts';
import type { Message } from '../message/message.ts';
import { isFault } from '../job/fault.ts';
import { mostFaults, type GiveUpReason } from '../job/redelivery.ts';
import type { AttemptJob } from '../job/job.ts';
import { log } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import { loadBody } from '../message/bodies.ts';
import { loadMessage, type MessageHistory, recordOf } from '../message/history.ts';
import { kindOf } from '../message/kinds.ts';
import { accountCallbackOf } from './outcome.ts';
import { continueAgain } from './continuations/continueRecorded.ts';
import { finishAttempt, type LoadedMessage } from './finishAttempt.ts';
import { declineLanes, leaveEndedLanes, leaveLanesAgain } from '../lane/leaveLanes.ts';
import { leaveWithoutMessage, servedOwner } from './earlyJobs.ts';

const errors: Readonly<Record<GiveUpReason, string>> = {
  deaths:
    'The delivery worker died each time it made this attempt, even when it did nothing else; see its log.',
  faults: `The service itself failed ${mostFaults} times with this attempt, which the destination may have got; the log of the delivery workers has the errors under the message's id.`,
};

/**
 * Gives up a message that kills its worker, or for which the service fails: it fails, and gets a dead letter.
 * The cause may be its body, a callback, or a consequence of a recorded attempt. Each of these is skipped if
 * it fails again.
 *
 * @param error the text for the log and the dead letter
 * @throws if this must be retried
 */
export async function giveUpAttempt(job: AttemptJob, why: GiveUpReason, error = errors[why]): Promise<void> {
  const failed = await failAttempt(job, noAnswer(error));
  if (failed === undefined) return;
  await giveUpPurpose(failed.message, why);
  if (failed.isNew) count('GivenUp');
}

interface FailedMessage {
  readonly message: Message;
  readonly isNew: boolean;
}

/**
 * Fails a message without a request to its destination.
 *
 * @param response shown in the log and the dead letter as the answer
 * @returns undefined if there is nothing to fail, or not now
 * @throws if this must be retried
 */
export async function failAttempt(
  job: AttemptJob,
  response: DestinationResponse,
): Promise<FailedMessage | undefined> {
  const history = await loadMessage(job);
  if (history === undefined) {
    await leaveWithoutMessage(job);
    return undefined;
  }
  const { message } = history;
  const number = await attemptToFail(history, job.attempt);
  if (number === undefined) return { message, isNew: false };
  if (history.end !== undefined) {
    await leaveEndedLanes(message, job, true);
    return undefined;
  }
  const account = await servedOwner(history, job, true);
  if (account === undefined) return undefined;
  const body = await bodyForCallbacks(history, account);
  const time = now();
  const result = {
    number,
    startedAt: time,
    recordedAt: time,
    response,
    outcome: { state: 'FAILED' },
  } as const;
  await finishAttempt({ history, account, body }, result, {
    storeMessage: (store) => unlessFault(message, store),
    release: () => leaveLanesAgain(message, number, account),
  });
  await declineLanes(job, 'over');
  return { message, isNew: true };
}

/** Ends the step or run to which the message belongs. */
async function giveUpPurpose(message: Message, why: GiveUpReason): Promise<void> {
  const own = await kindOf(message);
  await own?.kind.giveUp(message, own.part, why);
}

/** @returns undefined if this attempt is recorded, its consequences are done, and no other is left to fail */
async function attemptToFail(history: MessageHistory, number: number): Promise<number | undefined> {
  const recorded = recordOf(history, number);
  if (recorded === undefined) return number;
  try {
    await continueAgain(history, recorded);
    return undefined;
  } catch (error) {
    // A record cannot be changed, so only the next attempt can fail instead.
    if (recorded.state !== 'RETRY' || !isFault(error)) throw error;
    logFault(history.message, error);
  }
  return recordOf(history, number + 1) === undefined ? number + 1 : undefined;
}

/** @returns the message's body; empty if no callback needs it, or if it is the cause */
async function bodyForCallbacks({ message, body }: MessageHistory, account: Account): Promise<Uint8Array> {
  let loaded: Uint8Array = new Uint8Array();
  const asked = [message.callback, message.failureCallback, accountCallbackOf(message, account)];
  if (asked.every((callback) => callback === undefined)) return loaded;
  await unlessFault(message, async () => {
    loaded = await loadBody(message.messageId, body);
  });
  return loaded;
}

/** Runs a function, and skips it if it fails because of a bug. */
async function unlessFault(message: Message, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isFault(error)) throw error;
    logFault(message, error);
  }
}

function logFault({ messageId }: Message, error: unknown): void {
  log.error('A message that is given up is kept without the part with which the service fails', {
    messageId,
    error: error instanceof Error ? error : String(error),
  });
}

/** Fails a message that has waited too long for its host, without a request or a retry. */
export async function failOverdue({ history, account, body }: LoadedMessage, number: number): Promise<void> {
  const time = now();
  const waitedSeconds = rulesOf(account.circuit).longestWaitMs / secondMs;
  const error = `The destination has been down, and this attempt has waited for more than ${waitedSeconds} s; no request was made.`;
  await finishAttempt(
    { history, account, body },
    {
      number,
      startedAt: time,
      recordedAt: time,
      response: noAnswer(error),
      outcome: { state: 'FAILED' },
    },
  );
}
