import { made } from '../../../options/option.ts';
import { deadLettersOfRuns, deadRunRoutes, hangingRunRoutes, hangingRuns } from './workflowDeadLetters.ts';
import { eventRoutes, events } from './workflowEvents.ts';
import { runRoutes, runs } from './workflowRuns.ts';

export const workflowsRoutes = { ...runRoutes, ...hangingRunRoutes, ...eventRoutes, ...deadRunRoutes };

export const workflows = /* @__PURE__ */ made(() => ({
  ...runs,
  ...hangingRuns,
  ...events,
  ...deadLettersOfRuns,
}));
