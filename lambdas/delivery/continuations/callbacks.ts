import { callbacksOf } from '../../message/consequenceIds.ts';
import type { Continuation } from './continuation.ts';

/** Reports the outcome to callback URLs. */
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
