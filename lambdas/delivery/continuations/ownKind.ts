import { kindOf } from '../../message/kinds.ts';
import type { Continuation } from './continuation.ts';

/** Continues a message's kind: a run continues, or fails. */
export const ownKind: Continuation = {
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
