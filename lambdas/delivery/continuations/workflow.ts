import { isFinal } from '../../message/message.ts';
import type { WorkflowPart } from '../../message/workflowPart.ts';
import type { Continuation, RecordedAttempt } from '../continuation.ts';

/** The part in a run of a message whose attempts are over; undefined where nothing follows from that. */
function endedPart({ history, attempt }: RecordedAttempt): WorkflowPart | undefined {
  const { workflow: part } = history.message;
  if (part === undefined || !isFinal(attempt) || attempt.state === 'CANCELED') return undefined;
  switch (part.role) {
    case 'list':
    case 'callResult':
      // A success ends the delivery and nothing else: the run goes on by what its endpoint submits.
      return attempt.state === 'FAILED' ? part : undefined;
    case 'failureRequest':
      return part;
    case 'call':
      // Its answer goes to the endpoint as a callback.
      return undefined;
  }
}

/**
 * Fails the run of a delivery that failed for good, and notes how its failure function ended. Few messages are of runs, and the
 * code for them is loaded when the first comes.
 */
export const workflow: Continuation = {
  store: (made) => {
    const part = endedPart(made);
    if (part === undefined || part.role === 'failureRequest') return [];
    return [
      async () => {
        const { storeFailureRequest } = await import('../../workflow/forWorkers.ts');
        await storeFailureRequest(made, part);
      },
    ];
  },
  release: async (recorded) => {
    const part = endedPart(recorded);
    if (part === undefined) return;
    const { failRun, noteFailureFunction } = await import('../../workflow/forWorkers.ts');
    await (part.role === 'failureRequest' ? noteFailureFunction(recorded, part) : failRun(recorded, part));
  },
};
