import type { Continuation } from './continuation.ts';

/**
 * Adds a message whose last attempt failed to the dead letter queue. A workflow's run has one dead letter as a whole.
 */
export const deadLetter: Continuation = {
  release: async (recorded) => {
    if (recorded.attempt.state !== 'FAILED' || recorded.history.message.workflow !== undefined) return;
    const { deadLetterAttempt } = await import('../../deadLetter/deadLetter.ts');
    await deadLetterAttempt(recorded);
  },
};
