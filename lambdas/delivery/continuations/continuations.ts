import { attemptJob } from '../../job/job.ts';
import { sendJob } from '../../job/send.ts';
import { keepSlotFor, leaveAsCallback, leaveSlot, queueSlotOf } from '../../lane/queueSlot.ts';
import { callbacksOf } from '../../message/consequenceIds.ts';
import { followsAt, recordOf, type MadeAttempt, type RecordedAttempt } from '../../message/history.ts';
import { groupHooks, kindOf } from '../../message/kinds.ts';
import { isFinal } from '../../message/message.ts';
import { isGone } from '../outcome.ts';

type StoreMessage = () => Promise<void>;

/**
 * A consequence of an attempt, such as its retry or its callbacks. Its functions may be called several times
 * for one attempt: a worker may die, and two workers may make the same attempt.
 */
interface Continuation {
  /**
   * Returns the messages that contain the whole response. Each is stored before the attempt is recorded,
   * without a job. If the attempt is repeated with the same outcome, they are overwritten; with another
   * outcome, there are other messages.
   */
  readonly store?: (made: MadeAttempt) => readonly StoreMessage[];
  /** Continues from the record: after it is written, and again each time the attempt's job is redelivered. */
  readonly release: (recorded: RecordedAttempt) => Promise<void>;
}

/** Reports the outcome to callback URLs. */
const callbacks: Continuation = {
  store: (made) =>
    callbacksOf(made).map((callback) => async () => {
      const { storeCallback } = await import('./callbackMessages.ts');
      await storeCallback(made, callback);
    }),
  release: async (recorded) => {
    if (callbacksOf(recorded).length === 0) return;
    const { sendCallbacks } = await import('./callbackMessages.ts');
    await sendCallbacks(recorded);
  },
};

/** If there are two jobs, the worker of the second finds the first one's record. */
const retry: Continuation = {
  release: async (recorded) => {
    const { history, attempt } = recorded;
    const next = attempt.number + 1;
    // A change of the message has already sent the job.
    const isChanged = history.message.change?.dueAt[next] !== undefined;
    if (attempt.state !== 'RETRY' || isChanged || recordOf(history, next) !== undefined) return;
    const dueAt = attempt.nextDeliveryAt ?? attempt.recordedAt;
    await sendJob(attemptJob(history.message, next), followsAt(recorded, history.message, dueAt));
  },
};

/**
 * Adds a message whose last attempt failed to the dead letter queue. A workflow's run has one dead letter for
 * all of its messages.
 */
const deadLetter: Continuation = {
  release: async (recorded) => {
    if (recorded.attempt.state !== 'FAILED' || recorded.history.message.workflow !== undefined) return;
    const { deadLetterAttempt } = await import('../../deadLetter/deadLetter.ts');
    await deadLetterAttempt(recorded);
  },
};

/**
 * Frees a queue's slot when a message and its own callbacks are over. The account's failure callback does not
 * count, because many queues share it. The lane learns of the callbacks before the attempt is recorded, so
 * the slot is never free in between.
 */
const leaveQueue: Continuation = {
  store: (made) => {
    const { message } = made.history;
    const slot = queueSlotOf(message);
    const callbackIds = ownCallbackIdsOf(made);
    if (slot === undefined || callbackIds.length === 0) return [];
    return [
      async () => {
        await keepSlotFor(message, slot, callbackIds);
      },
    ];
  },
  release: async (recorded) => {
    if (!isFinal(recorded.attempt)) return;
    await Promise.all([leaveOwn(recorded), leaveAsCallback(recorded.history.message)]);
  },
};

const ownCallbackIdsOf = (followed: Parameters<typeof callbacksOf>[0]): readonly string[] =>
  callbacksOf(followed).flatMap(({ kind, messageId }) => (kind === 'accountCallback' ? [] : [messageId]));

async function leaveOwn({ history, attempt: last }: RecordedAttempt): Promise<void> {
  const { message, attempts } = history;
  const slot = queueSlotOf(message);
  if (slot === undefined) return;
  const owed = [...attempts, last].flatMap((attempt) => ownCallbackIdsOf({ history, attempt }));
  await leaveSlot(message, slot, new Set(owed));
}

/** Continues or fails the message's run, if it has one. */
const ownKind: Continuation = {
  store: (made) => {
    const { message } = made.history;
    if (message.workflow === undefined) return [];
    return [
      async () => {
        const own = await kindOf(message);
        await own?.kind.store(made, own.part);
      },
    ];
  },
  release: async (recorded) => {
    const own = await kindOf(recorded.history.message);
    await own?.kind.release(recorded, own.part);
  },
};

/** Removes an endpoint that answered 410 from its URL group, if its message asks for that. */
const removeGone: Continuation = {
  release: async ({ history: { message }, attempt }) => {
    if (attempt.state !== 'FAILED' || !isGone(message, attempt.response.status)) return;
    const { removeEndpoint } = await groupHooks();
    await removeEndpoint(message, attempt);
  },
};

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
