import { expect, it } from 'vitest';
import { routes, type Route } from '../../../lambdas/http/routes.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

/** Routes that change nothing lasting. Publishes and waits are in the log. */
const notAudited = [
  'POST /v2/messages/{messageId}/publish',
  'GET /v2/workflows/runs/{runId}',
  'POST /v2/wait/{eventId+}',
  'POST /v2/alarms/test',
];

it('every route is in the audit trail, publishes, or is known to change nothing lasting', async () => {
  const { auditedRoutes } = await import('../../../lambdas/http/auditing.ts');
  const changing = routes.filter((route: Route) => route.access === 'write' && route.publishes !== true);
  const known = [...Object.keys(auditedRoutes), ...notAudited];
  expect(changing.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(known.sort());
});
