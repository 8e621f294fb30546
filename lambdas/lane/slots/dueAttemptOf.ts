import { limitsOf, type Account } from '../../account/account.ts';
import { rulesOf } from '../../circuit/settings.ts';
import { circuitHostOf } from '../../circuit/verdict.ts';
import { timeoutOf } from '../../destination/rulesOfDeployment.ts';
import { attemptJob, type AttemptJob } from '../../job/job.ts';
import { type MessageHistory } from '../../message/history.ts';
import { dueTimeOf } from '../../message/status.ts';
import type { Message } from '../../message/message.ts';
import { now } from '../../shared/clock.ts';
import { limitsOfKey } from '../lane.ts';
import { holdsOf } from '../rules/hold.ts';
import type { CircuitOf } from './circuitView.ts';
import type { DueAttempt } from './dueAttempt.ts';

/** The host whose circuit may hold back a message, if any. */
const circuitHost = ({ circuit, url }: Message, account: Account): string | undefined =>
  (circuit ?? account.circuit?.enabled ?? false) ? circuitHostOf(url) : undefined;

export const holdingOf = (message: Message, account: Account) => ({
  holds: holdsOf(message, account, now()),
  host: circuitHost(message, account),
});

/** An attempt with a slot of a circuit or hold must free it, even if settings have changed. */
function circuitOf(
  history: MessageHistory,
  account: Account,
  { attempt, admittedTo }: AttemptJob,
): CircuitOf | undefined {
  const host = admittedTo?.lane === 'circuit' ? admittedTo.name : circuitHost(history.message, account);
  return host === undefined
    ? undefined
    : {
        host,
        rules: rulesOf(account.circuit),
        dueAt: dueTimeOf(history, attempt),
        isReleased: admittedTo?.lane === 'hold',
      };
}

export function dueAttemptOf(
  history: MessageHistory,
  account: Account,
  job: AttemptJob,
  isAgain: boolean,
): DueAttempt {
  const { message } = history;
  const { messageId, accountId, queueName, flowControl, fairKey, priority, createdAt, notBefore } = message;
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
    turn: { fairKey, priority },
    holds: [
      ...new Set([
        ...(admittedTo?.lane === 'hold' ? [admittedTo.name] : []),
        ...holdsOf(message, account, now()),
      ]),
    ],
    circuit: circuitOf(history, account, job),
    accountLimits: { parallelism: limitsOf(account).max_global_parallelism, version: account.version },
    timeoutMs: timeoutOf(message),
    createdAt,
    notBefore,
    admittedTo,
    isAgain,
  };
}
