import { expect, it } from 'vitest';
import { routes, type Route } from '../../../lambdas/http/routes.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

/** What lasts not: one message, run or dead letter is in the log. */
const notAudited = [
  'DELETE /v2/messages/{messageId}',
  'POST /v2/messages/{messageId}/publish',
  'POST /v2/dlq/retry/{dlqId}',
  'DELETE /v2/dlq/{dlqId}',
  'POST /v2/schedules/{schedule}/run',
  // Shows payloads as they are.
  'GET /v2/workflows/runs/{runId}',
  'DELETE /v2/workflows/runs/{runId}',
  'POST /v2/wait/{eventId+}',
  'DELETE /v2/workflows/dlq/{dlqId}',
  'POST /v2/workflows/dlq/resume/{dlqId}',
  'POST /v2/workflows/dlq/restart/{dlqId}',
  'POST /v2/workflows/dlq/callback/{dlqId}',
  'DELETE /v2/workflows/dlq/callback/{dlqId}',
];

it('every route that changes something is in the audit trail, publishes, or is known to change nothing that lasts', async () => {
  const { auditedRoutes } = await import('../../../lambdas/http/auditing.ts');
  const changing = routes.filter((route: Route) => route.access === 'write' && route.publishes !== true);
  const known = [...Object.keys(auditedRoutes), ...notAudited];
  expect(changing.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(known.sort());
});
