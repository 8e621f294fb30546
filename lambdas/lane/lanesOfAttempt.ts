/** A delivery and its lanes: it takes their slots, waits, declines an admission, or leaves them. */
import { setTimeout } from 'node:timers/promises';
import { isServed, limitsOf, type Account } from '../account/account.ts';
import { rulesOf } from '../circuit/settings.ts';
import { circuitHostOf } from '../circuit/verdict.ts';
import { now, secondMs } from '../shared/clock.ts';
import { leaseMarginMs } from './rules/entry.ts';
import { endLease } from './rules/cancelling.ts';
import { limitsOfKey } from './lane.ts';
import { leave, type DeclineReason } from './rules/leaving.ts';
import type { Message } from '../message/message.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { loadAccount } from '../account/accounts.ts';
import { type MessageHistory, dueTimeOf } from '../message/history.ts';
import { noteHeld } from '../message/messages.ts';
import { count } from '../aws/metrics.ts';
import { sendJob } from '../job/send.ts';
import { resumeAccount } from './resumeAccount.ts';
import { extendMessage } from './line/keepLine.ts';
import { LaneBusy } from './slots/lanes.ts';
import { lanes } from './slots/ourLanes.ts';
import { laneGate } from './slots/ourGate.ts';
import type { CircuitOf } from './slots/circuits.ts';
import {
  hasEnteredQueue,
  queueLane,
  youngMs,
  type Acquired,
  type Refusal,
  type DueAttempt,
} from './slots/acquire.ts';
import { leaveAsCallback, queueSlotOf } from './queueSlot.ts';

export type { Acquired };

/** The host whose circuit may hold back a message; undefined where none does. */
const circuitHost = ({ circuit, url }: Message, account: Account): string | undefined =>
  (circuit ?? account.circuit?.enabled ?? false) ? circuitHostOf(url) : undefined;

/** The circuit that an attempt passes. One that a circuit let go leaves it, whatever holds meanwhile. */
function circuitOf(
  history: MessageHistory,
  account: Account,
  { attempt, admittedTo }: AttemptJob,
): CircuitOf | undefined {
  const host = admittedTo?.lane === 'circuit' ? admittedTo.name : circuitHost(history.message, account);
  return host === undefined
    ? undefined
    : { host, rules: rulesOf(account.circuit), dueAt: dueTimeOf(history, attempt) };
}

/** Gathers what its lanes need to know of an attempt. */
function dueAttemptOf(
  history: MessageHistory,
  account: Account,
  work: AttemptJob,
  isAgain: boolean,
): DueAttempt {
  const { message } = history;
  const { messageId, accountId, queueName, flowControl, createdAt, timeoutMs } = message;
  const { attempt, admittedTo } = work;
  return {
    messageId,
    accountId,
    attempt,
    queue: attemptJob(message, attempt).queue,
    queueName,
    flowControl: flowControl && {
      key: flowControl.key,
      madeAt: createdAt,
      ...limitsOfKey(flowControl),
    },
    circuit: circuitOf(history, account, work),
    accountLimits: { parallelism: limitsOf(account).max_global_parallelism, version: account.version },
    timeoutMs,
    admittedTo,
    isAgain,
  };
}

/** Work may overtake the write of its admission by a few milliseconds: it looks again after these. */
const earlyPausesMs = [10, 20, 40, 80, 160];

/** Asks again for as long as what is asked for may be about to be written. */
async function unlessEarly<T>(ask: () => Promise<T>, isEarly: (answer: T) => boolean): Promise<T> {
  let answer = await ask();
  for (const pauseMs of earlyPausesMs) {
    if (!isEarly(answer)) break;
    await setTimeout(pauseMs);
    answer = await ask();
  }
  return answer;
}

/**
 * Takes a slot of each lane of an attempt.
 *
 * @returns undefined where it may not go on: it waits in a line, or comes again; `overdue` where it is to fail, because it has
 *   waited for its host for too long
 */
export async function acquireLanes(
  history: MessageHistory,
  account: Account,
  work: AttemptJob,
  isAgain: boolean,
): Promise<Acquired | 'overdue' | undefined> {
  const dueAttempt = dueAttemptOf(history, account, work, isAgain);
  try {
    const entered = await unlessEarly(
      () => laneGate.enter(dueAttempt),
      (one) => one === 'early',
    );
    if (typeof entered !== 'string' || entered === 'overdue') return entered;
    await afterRefusal(history, account, work, isAgain, entered);
  } catch (error) {
    // Work that was handed out before comes back as such: it has to continue from a record that another worker makes.
    if (isAgain || !(error instanceof LaneBusy)) throw error;
    await sendJob(work, now() + secondMs);
  }
  return undefined;
}

async function afterRefusal(
  history: MessageHistory,
  account: Account,
  work: AttemptJob,
  isAgain: boolean,
  refusal: Refusal,
): Promise<void> {
  if (refusal === 'waits' || refusal === 'held') await extendMessage(history, account, now());
  if (refusal === 'held') {
    await noteHeld(history.message, work.attempt, now());
    count('AttemptsHeldBack');
  }
  if (isAgain) await followUp(history.message, work);
  if (refusal === 'early') await comeAgain(work);
}

/** The longest attempt has ended by then, and is recorded unless its worker died. */
const followUpMs = 900 * secondMs;

/**
 * Looks later whether an attempt is recorded whose work was handed out twice and is dropped here. Should the other worker have
 * died between the record and what follows from it, nobody else would continue.
 */
const followUp = (message: Message, { attempt }: AttemptJob): Promise<void> =>
  sendJob({ ...attemptJob(message, attempt), isFollowUp: true }, now() + followUpMs);

/**
 * Sends work again whose admission is not written yet, each time with a longer delay: mostly it never will be, because another
 * process admitted the attempt first.
 */
const comeAgain = (work: AttemptJob): Promise<void> =>
  sendJob(work, now() + Math.max(secondMs, now() - (work.admittedTo?.sentAt ?? 0)));

/**
 * Lets an attempt wait until its account is served again.
 *
 * The account is read once more after the attempt has joined the line. So either the change that activates the account finds
 * the attempt there, or this reads that the account is active and resumes its lane.
 */
export async function waitForAccount(
  history: MessageHistory,
  account: Account,
  work: AttemptJob,
  isAgain: boolean,
): Promise<void> {
  const refusal = await laneGate.waitForAccount(dueAttemptOf(history, account, work, isAgain));
  await afterRefusal(history, account, work, isAgain, refusal);
  const latest = await loadAccount(account.id, true);
  if (latest !== undefined && isServed(latest)) await resumeAccount(latest);
}

/**
 * Ends the admission of work that is not needed any more.
 *
 * Where it is not written yet, the work comes again. That of a cancelled message comes soon: its admission is about to be
 * written, and those behind it wait for its slot. An attempt that was made is admitted again only where it stood in the line
 * twice: for that one look suffices, when it must have been done.
 *
 * @param reason of its message
 */
export async function declineLanes(work: AttemptJob, reason: DeclineReason): Promise<void> {
  const { admittedTo } = work;
  if (admittedTo === undefined) return;
  const decline = (): Promise<boolean> => laneGate.decline({ ...work, admittedTo }, reason);
  if (reason !== 'cancelled') {
    if (!(await decline())) await sendJob(work, admittedTo.sentAt + youngMs + secondMs);
    return;
  }
  if (!(await unlessEarly(decline, (isDeclined) => !isDeclined))) await comeAgain(work);
}

/** Leaves the lanes of a message that was ended before this attempt of it. */
export async function leaveEndedLanes(message: Message, work: AttemptJob, isAgain: boolean): Promise<void> {
  const { accountId, timeoutMs } = message;
  const { attempt, admittedTo } = work;
  // Where the work comes again, another worker may still be at it.
  await declineLanes(work, isAgain ? 'goesOn' : 'cancelled');
  await leaveAsCallback(message);
  // It kept its key's slot while it waited for its account.
  if (admittedTo?.lane === 'account') await leaveLanesAgain(message, attempt);
  const hasPassedQueue = hasEnteredQueue(work);
  const slot = queueSlotOf(message);
  if (slot === undefined || !(hasPassedQueue || isAgain)) return;
  const until = now() + timeoutMs + leaseMarginMs;
  await lanes.update(queueLane(accountId, slot.queueName), (lane) =>
    isAgain ? endLease(lane, slot.entry, until) : leave(lane, slot.entry),
  );
}

/**
 * Leaves the lanes of an attempt that was recorded by a worker which may have died before it did.
 *
 * @param account of the message; undefined where it has left the circuit of its host for certain
 */
export async function leaveLanesAgain(message: Message, attempt: number, account?: Account): Promise<void> {
  const { accountId, messageId, flowControl } = message;
  const { queue } = attemptJob(message, attempt);
  const host = account && circuitHost(message, account);
  await laneGate.leaveAgain({ accountId, messageId, attempt, queue, key: flowControl?.key, host });
}
