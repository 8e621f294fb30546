import type { Continuation } from './continuation.ts';

/** Puts a message whose last attempt failed into the dead letter queue, unless it is there. A run of a workflow has one as a whole. */
export const deadLetter: Continuation = {
  release: async ({ history, attempt, account }) => {
    const { message } = history;
    if (attempt.state !== 'FAILED' || message.workflow !== undefined) return;
    // Few messages fail for good, and what that takes is loaded for the first.
    const { bury } = await import('./bury.ts');
    await bury({ history, attempt, account });
  },
};
