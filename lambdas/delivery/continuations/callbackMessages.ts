import { limitsOf, type Account } from '../../account/account.ts';
import { accountCallbackSettings } from '../accountCallbackSettings.ts';
import { callbackBody } from '../callbackBody.ts';
import { expiryOf, type CallbackSettings, type Message, type QueueSlot } from '../../message/message.ts';
import { noRedaction } from '../../message/redaction.ts';
import type { Redaction } from '../../options/redaction.ts';
import { attemptJob } from '../../job/job.ts';
import { kindOf } from '../../message/kinds.ts';
import { withTrace } from '../../request/traceContext.ts';
import { storeBody } from '../../message/bodies.ts';
import { putMessage } from '../../message/messages.ts';
import { sendJob } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';
import { queueSlotOf } from '../../lane/queueSlot.ts';
import { callbacksOf, dlqIdOf, type Callbacks } from '../../message/consequenceIds.ts';
import { countFollowing } from '../../usage/counter.ts';
import { followsAt, type MadeAttempt, type RecordedAttempt } from '../../message/history.ts';

type Callback = Callbacks[number];

function settingsOf({ history, account, attempt }: RecordedAttempt, { kind }: Callback): CallbackSettings {
  const settings =
    kind === 'accountCallback'
      ? accountCallbackSettings(attempt.accountCallback, account)
      : history.message[kind];
  if (settings === undefined) throw new Error(`${history.message.messageId} has no ${kind}.`);
  return settings;
}

/**
 * The slot that the message keeps until a callback is over. Not for the account's callback, for which no
 * message waits.
 */
const slotKeptFor = ({ history }: RecordedAttempt, { kind }: Callback): QueueSlot | undefined =>
  kind === 'accountCallback' ? undefined : queueSlotOf(history.message);

export async function storeCallback(made: MadeAttempt, callback: Callback): Promise<void> {
  const { kind, messageId } = callback;
  const settings = settingsOf(made, callback);
  const isOfAccount = kind === 'accountCallback';
  const dlqId = kind === 'callback' ? undefined : dlqIdOf(made.history, made.attempt.number);
  const { message } = made.history;
  const { number, recordedAt } = made.attempt;
  const limits = limitsOf(made.account);
  const notBefore = recordedAt + settings.delayMs;
  const found = await kindOf(message);
  const own = isOfAccount ? undefined : found?.kind.callback(found.part);
  const callbackMessage: Message = {
    ...settings,
    headers: withTrace(settings.headers, message.headers),
    redaction: redactionOf(settings, message),
    messageId,
    accountId: message.accountId,
    prefix: message.prefix,
    createdAt: recordedAt,
    notBefore,
    callerIp: message.callerIp,
    callbackOf: message.messageId,
    slotOf: slotKeptFor(made, callback),
    workflow: own?.workflow,
    expiresAt: expiryOf({ ...settings, notBefore }, limits),
  };
  const details = { message, body: made.body, response: made.response, retried: number, dlqId };
  // A failure callback of a run already has the body of a callback.
  const body =
    isOfAccount && found !== undefined
      ? made.body
      : (own?.bodyOf ?? callbackBody)(details, limits.max_message_size);
  await ensureKeys(callbackMessage);
  await putMessage(callbackMessage, await storeBody(callbackMessage, body, recordedAt));
}

/** A callback's body contains its message's body and headers, so it is redacted if those are. */
function redactionOf(settings: CallbackSettings, { redaction }: Message): Redaction | undefined {
  if (redaction === undefined) return settings.redaction;
  return { ...(settings.redaction ?? noRedaction), body: true };
}

export async function sendCallbacks(recorded: RecordedAttempt): Promise<void> {
  const { accountId } = recorded.history.message;
  await Promise.all(
    callbacksOf(recorded).map((callback) => {
      const settings = settingsOf(recorded, callback);
      return sendJob(
        {
          ...attemptJob({ ...settings, messageId: callback.messageId, accountId }, 0),
          slotOf: slotKeptFor(recorded, callback),
        },
        followsAt(recorded, settings, recorded.attempt.recordedAt + settings.delayMs),
      );
    }),
  );
}

export const countCallbacks = (account: Account, callbacks: number): Promise<void> =>
  countFollowing(account, callbacks);
