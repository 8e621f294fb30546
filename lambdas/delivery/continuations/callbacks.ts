import { limitsOf } from '../../account/account.ts';
import { callbackBody } from '../callbackBody.ts';
import { expiryOf, type CallbackSettings, type Message } from '../../message/message.ts';
import { noRedaction } from '../../message/redaction.ts';
import type { Redaction } from '../../options/redaction.ts';
import { attemptJob } from '../../job/job.ts';
import { kindOf } from '../../message/kinds.ts';
import { storeBody } from '../../message/bodies.ts';
import { putMessage } from '../../message/messages.ts';
import { sendJob } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';
import { queueSlotOf } from '../../lane/queueSlot.ts';
import { callbacksOf, dlqIdOf } from '../../message/consequenceIds.ts';
import type { Continuation } from './continuation.ts';
import type { MadeAttempt, RecordedAttempt } from '../../message/history.ts';

/** A callback that an attempt gives rise to. */
interface Callback {
  readonly settings: CallbackSettings;
  readonly messageId: string;
  readonly dlqId: string | undefined;
}

const ownCallbacksOf = ({ history, attempt }: RecordedAttempt): readonly Callback[] =>
  callbacksOf({ history, attempt }).flatMap(({ kind, messageId }) => {
    const settings = history.message[kind];
    const dlqId = kind === 'failureCallback' ? dlqIdOf(history, attempt.number) : undefined;
    return settings === undefined ? [] : [{ settings, messageId, dlqId }];
  });

async function storeCallback({ settings, messageId, dlqId }: Callback, made: MadeAttempt): Promise<void> {
  const { message } = made.history;
  const { number, recordedAt } = made.attempt;
  const limits = limitsOf(made.account);
  const notBefore = recordedAt + settings.delayMs;
  const found = await kindOf(message);
  const own = found?.kind.callback(found.part);
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
    workflow: own?.workflow,
    callbackOf: message.messageId,
    expiresAt: expiryOf({ ...settings, notBefore }, limits.max_dlq_retention_time_milis),
  };
  const details = { message, body: made.body, response: made.response, retried: number, dlqId };
  const body = (own?.bodyOf ?? callbackBody)(details, limits.max_message_size);
  await ensureKeys(callbackMessage);
  await putMessage(callbackMessage, await storeBody(callbackMessage, body, recordedAt));
}

/** A callback's body holds its message's body and headers: where those are redacted, the callback's body is. */
function redactionOf(settings: CallbackSettings, { redaction }: Message): Redaction | undefined {
  if (redaction === undefined) return settings.redaction;
  return { ...(settings.redaction ?? noRedaction), body: true };
}

/** Tells callback URLs the outcome. Each callback is a message of its own. */
export const callbacks: Continuation = {
  store: (made) => ownCallbacksOf(made).map((callback) => () => storeCallback(callback, made)),
  release: async (recorded) => {
    const { message } = recorded.history;
    const { accountId } = message;
    await Promise.all(
      ownCallbacksOf(recorded).map(({ settings, messageId }) =>
        sendJob(
          { ...attemptJob({ ...settings, messageId, accountId }, 0), slotOf: queueSlotOf(message) },
          recorded.attempt.recordedAt + settings.delayMs,
        ),
      ),
    );
  },
};
