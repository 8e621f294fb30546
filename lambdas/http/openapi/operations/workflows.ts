import type { Operations } from '../parts/operation.ts';
import { deadLettersOfRuns, hangingRuns } from './workflowDeadLetters.ts';
import { events } from './workflowEvents.ts';
import { runs } from './workflowRuns.ts';

export const workflows: Operations<'workflows'> = {
  ...runs,
  ...hangingRuns,
  ...events,
  ...deadLettersOfRuns,
};
