import { groupHooks } from '../../message/kinds.ts';
import { isGone } from '../outcome.ts';
import type { Continuation } from './continuation.ts';

/** Removes an endpoint that answered 410 from its URL group, if the message asks for that. */
export const removeGone: Continuation = {
  release: async ({ history: { message }, attempt }) => {
    if (attempt.state !== 'FAILED' || !isGone(message, attempt.response.status)) return;
    const { removeEndpoint } = await groupHooks();
    await removeEndpoint(message, attempt);
  },
};
