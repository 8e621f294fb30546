/** Attempts that are due, as their lanes need to know them. */
import { limitsOf, type Account } from '../../account/account.ts';
import { rulesOf } from '../../circuit/settings.ts';
import { circuitHostOf } from '../../circuit/verdict.ts';
import { attemptJob, type AdmittedTo, type AttemptJob } from '../../job/job.ts';
import { dueTimeOf, type MessageHistory } from '../../message/history.ts';
import type { Message } from '../../message/message.ts';
import { minuteMs } from '../../shared/clock.ts';
import { limitsOfKey, type Limits } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import type { CircuitOf } from './circuits.ts';

/** The flow control of a message. */
interface KeyLimits extends Limits {
  readonly key: string;
  /** When the message was made, Unix milliseconds. */
  readonly madeAt: number;
}

/** An attempt that is due, with all that its lanes need to know of it. */
export interface DueAttempt extends Entry {
  readonly accountId: string;
  /** The queue that its message was enqueued to, if any. */
  readonly queueName: string | undefined;
  readonly flowControl: KeyLimits | undefined;
  /** The circuit of its host; undefined where none holds it back. */
  readonly circuit: CircuitOf | undefined;
  /** The limits of its account, as this process knows them. */
  readonly accountLimits: Limits & { readonly version: number };
  readonly timeoutMs: number;
  readonly admittedTo: AdmittedTo | undefined;
  /** Whether its job has been handed out before: the attempt may be under way, or in a line. */
  readonly isAgain: boolean;
}

/** A grant that is not in the table this long after its job was sent was never written: its process died. */
export const youngMs = minuteMs;

/** Tells whether an attempt has a slot of its queue: its message keeps the slot until it is over. */
export const hasEnteredQueue = ({
  attempt,
  admittedTo,
}: {
  readonly attempt: number;
  readonly admittedTo?: AdmittedTo | undefined;
}): boolean => attempt > 0 || (admittedTo !== undefined && admittedTo.lane !== 'queue');

/** Tells whether an attempt comes from the line of its key or its account, and has a slot there. */
export const hasLaterSlots = ({ admittedTo }: DueAttempt): boolean =>
  admittedTo?.lane === 'key' || admittedTo?.lane === 'account';

/** The host whose circuit may hold back a message; undefined where none does. */
export const circuitHost = ({ circuit, url }: Message, account: Account): string | undefined =>
  (circuit ?? account.circuit?.enabled ?? false) ? circuitHostOf(url) : undefined;

/** The circuit of an attempt. An attempt that was let go by a circuit leaves that one, whatever its settings are now. */
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
export function dueAttemptOf(
  history: MessageHistory,
  account: Account,
  job: AttemptJob,
  isAgain: boolean,
): DueAttempt {
  const { message } = history;
  const { messageId, accountId, queueName, flowControl, createdAt, timeoutMs } = message;
  const { attempt, admittedTo } = job;
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
    circuit: circuitOf(history, account, job),
    accountLimits: { parallelism: limitsOf(account).max_global_parallelism, version: account.version },
    timeoutMs,
    admittedTo,
    isAgain,
  };
}
