import { limitsOf } from '../../domain/account/account.ts';
import { callbackBody } from '../../domain/delivery/callback.ts';
import { derivedId } from '../../domain/ids.ts';
import { expiryOf, isFinal, type CallbackSettings, type Message } from '../../domain/message/message.ts';
import { noRedaction, type Redaction } from '../../domain/message/redaction.ts';
import { attemptWork } from '../../domain/work/work.ts';
import { callResultBody } from '../../domain/workflow/callResult.ts';
import { storeBody } from '../../stores/message/bodies.ts';
import { putMessage } from '../../stores/message/messages.ts';
import { sendWork } from '../../transport/work.ts';
import { queueSlotOf } from '../lane/queueSlot.ts';
import type { Continuation, MadeAttempt, RecordedAttempt } from './continuation.ts';
import { dlqIdOf } from './deadLetter.ts';
import { dueTimeOf } from './history.ts';

/** A callback that an attempt gives rise to. */
interface Callback {
  readonly settings: CallbackSettings;
  /** Derived from the attempt, so that the callback is one message however often the attempt is repeated. */
  readonly messageId: string;
  readonly dlqId: string | undefined;
}

/**
 * Each attempt is told to the callback, the last one that failed to the failure callback too. Of a call that a workflow's step
 * makes, only the last one is told.
 */
function callbacksOf({ history, attempt }: RecordedAttempt): readonly Callback[] {
  const { message } = history;
  if (attempt.state === 'CANCELED') return [];
  // The endpoint that made a call waits for the end of it.
  if (message.workflow?.role === 'call' && !isFinal(attempt)) return [];
  const idFor = (kind: string): string =>
    derivedId('msg', dueTimeOf(history, attempt.number), `${message.messageId}/${attempt.number}/${kind}`);
  const callbacks: Callback[] = [];
  if (message.callback !== undefined) {
    callbacks.push({ settings: message.callback, messageId: idFor('callback'), dlqId: undefined });
  }
  if (message.failureCallback !== undefined && attempt.state === 'FAILED') {
    const dlqId = dlqIdOf(history, attempt.number);
    callbacks.push({ settings: message.failureCallback, messageId: idFor('failure-callback'), dlqId });
  }
  return callbacks;
}

/** The ids of the callbacks that an attempt gives rise to. */
export const callbackIdsOf = (recorded: RecordedAttempt): readonly string[] =>
  callbacksOf(recorded).map(({ messageId }) => messageId);

async function storeCallback({ settings, messageId, dlqId }: Callback, made: MadeAttempt): Promise<void> {
  const { message } = made.history;
  const { number, recordedAt } = made.attempt;
  const limits = limitsOf(made.account);
  const notBefore = recordedAt + settings.delayMs;
  const callbackMessage: Message = {
    ...settings,
    redaction: redactionOf(settings, message),
    messageId,
    accountId: message.accountId,
    prefix: message.prefix,
    createdAt: recordedAt,
    notBefore,
    callerIp: message.callerIp,
    slotOf: queueSlotOf(message),
    workflow: message.workflow && { ...message.workflow, role: 'callResult' },
    expiresAt: expiryOf({ ...settings, notBefore }, limits.max_dlq_retention_time_milis),
  };
  const facts = { message, body: made.body, response: made.response, retried: number, dlqId };
  const bodyOf = message.workflow?.role === 'call' ? callResultBody : callbackBody;
  const body = bodyOf(facts, limits.max_message_size);
  await putMessage(callbackMessage, await storeBody(callbackMessage, body, recordedAt));
}

/** A callback's body holds its message's body and headers: where those are redacted, it is. */
function redactionOf(settings: CallbackSettings, { redaction }: Message): Redaction | undefined {
  if (redaction === undefined) return settings.redaction;
  return { ...(settings.redaction ?? noRedaction), body: true };
}

/** Tells callback URLs the outcome: each callback is a message of its own. */
export const callbacks: Continuation = {
  store: (made) => callbacksOf(made).map((callback) => () => storeCallback(callback, made)),
  release: async (recorded) => {
    const { message } = recorded.history;
    const { accountId } = message;
    await Promise.all(
      callbacksOf(recorded).map(({ settings, messageId }) =>
        sendWork(
          { ...attemptWork({ ...settings, messageId, accountId }, 0), slotOf: queueSlotOf(message) },
          recorded.attempt.recordedAt + settings.delayMs,
        ),
      ),
    );
  },
};
