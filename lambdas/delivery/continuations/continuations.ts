import type { Attempt } from '../../message/message.ts';
import type { MessageHistory, RecordedAttempt, MadeAttempt } from '../../message/history.ts';
import { callbacks } from './callbacks.ts';
import { leaveLanesAgain } from '../../lane/leaveLanes.ts';
import type { Continuation, StoreMessage } from './continuation.ts';
import { deadLetter } from './deadLetter.ts';
import { leaveQueue } from './leaveQueue.ts';
import type { Account } from '../../account/account.ts';
import { ownerOf } from '../../account/owner.ts';
import { loadBody } from '../../message/bodies.ts';
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { removeGone } from './removeGone.ts';
import { retry } from './retry.ts';
import { ownKind } from './ownKind.ts';

const continuations: readonly Continuation[] = [
  callbacks,
  retry,
  deadLetter,
  leaveQueue,
  ownKind,
  removeGone,
];

export const messagesToStore = (made: MadeAttempt): readonly StoreMessage[] =>
  continuations.flatMap(({ store }) => store?.(made) ?? []);

export async function continueFrom(recorded: RecordedAttempt): Promise<void> {
  await Promise.all(continuations.map(({ release }) => release(recorded)));
}

/** Stores the messages that need the whole answer of a completion, which the recording request did not store. */
async function storeMessages(history: MessageHistory, account: Account, attempt: Attempt): Promise<void> {
  const { response, wholeBody } = attempt;
  if (callbackIdsOf({ history, attempt }).length === 0) return;
  const [body, whole] = await Promise.all([
    loadBody(history.message.messageId, history.body),
    wholeBody === undefined ? response.body : loadBody(wholeBody.id, wholeBody.stored),
  ]);
  const made = { history, account, attempt, body, response: { ...response, body: whole } };
  await Promise.all(messagesToStore(made).map((store) => store()));
}

/** Continues again from a record, because the worker may have died before. */
export async function continueAgain(history: MessageHistory, attempt: Attempt): Promise<void> {
  const account = await ownerOf(history.message);
  if (account === undefined) return;
  if (attempt.isCompleted === true) await storeMessages(history, account, attempt);
  await Promise.all([
    continueFrom({ history, account, attempt }),
    leaveLanesAgain(history.message, attempt.number, account),
  ]);
}
