import type { RecordedAttempt, MadeAttempt } from '../../message/history.ts';
import { callbacks } from './callbacks.ts';
import type { Continuation, StoreMessage } from './continuation.ts';
import { deadLetter } from './deadLetter.ts';
import { leaveQueue } from './leaveQueue.ts';
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
