import type { Attempt } from '../../message/message.ts';
import type { MessageHistory, RecordedAttempt, MadeAttempt } from '../../message/history.ts';
import { callbacks } from './callbacks.ts';
import { leaveLanesAgain } from '../../lane/leaveLanes.ts';
import type { Continuation, StoreMessage } from './continuation.ts';
import { deadLetter } from './deadLetter.ts';
import { leaveQueue } from './leaveQueue.ts';
import { ownerOf } from '../../account/owner.ts';
import { retry } from './retry.ts';
import { ownKind } from './ownKind.ts';

/** All consequences that an attempt may have. */
const continuations: readonly Continuation[] = [callbacks, retry, deadLetter, leaveQueue, ownKind];

/** The messages to store before the record, each by itself. */
export const messagesToStore = (made: MadeAttempt): readonly StoreMessage[] =>
  continuations.flatMap(({ store }) => store?.(made) ?? []);

/** Releases all consequences of a recorded attempt. */
export async function continueFrom(recorded: RecordedAttempt): Promise<void> {
  await Promise.all(continuations.map(({ release }) => release(recorded)));
}

/** Continues again from a record whose job was redelivered: the worker that made the attempt may have died before. */
export async function continueAgain(history: MessageHistory, attempt: Attempt): Promise<void> {
  const account = await ownerOf(history.message);
  if (account === undefined) return;
  await Promise.all([
    continueFrom({ history, account, attempt }),
    leaveLanesAgain(history.message, attempt.number, account),
  ]);
}
