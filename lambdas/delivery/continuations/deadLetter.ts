import type { Continuation } from './continuation.ts';

/**
 * Puts a message whose last attempt failed into the dead letter queue, unless it is there. A workflow's run has one dead letter as
 * a whole. Few messages fail for good, and the code is loaded for the first.
 */
export const deadLetter: Continuation = {
  release: async (recorded) => {
    if (recorded.attempt.state !== 'FAILED' || recorded.history.message.workflow !== undefined) return;
    const { deadLetterAttempt } = await import('../../deadLetter/deadLetter.ts');
    await deadLetterAttempt(recorded);
  },
};
