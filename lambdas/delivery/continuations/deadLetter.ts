import type { Continuation } from './continuation.ts';

/**
 * Puts a message whose last attempt failed into the dead letter queue, unless it is there. A run of a workflow has one as a
 * whole. Few messages come to this, and its code is loaded when the first does.
 */
export const deadLetter: Continuation = {
  release: async (recorded) => {
    if (recorded.attempt.state !== 'FAILED' || recorded.history.message.workflow !== undefined) return;
    const { deadLetterAttempt } = await import('../../deadLetter/deadLetter.ts');
    await deadLetterAttempt(recorded);
  },
};
