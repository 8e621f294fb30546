import { callbacksOf } from '../../message/consequenceIds.ts';
import type { Continuation } from './continuation.ts';

/**
 * Tells callback URLs the outcome. Each callback is a message of its own. Few messages have any, and the code is loaded for the
 * first.
 */
export const callbacks: Continuation = {
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
