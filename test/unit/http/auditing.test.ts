import { expect, it } from 'vitest';
import { managementRoutes, routes } from '../../../lambdas/http/routes.ts';

/** Routes that change nothing lasting. Publishes and waits are in the log. */
const notAudited = [
  'POST /v2/messages/{messageId}/publish',
  'GET /v2/workflows/runs/{runId}',
  'POST /v2/wait/{eventId+}',
  'POST /v2/alarms/test',
];

it('every route is in the audit trail, publishes, or is known to change nothing lasting', () => {
  const others = routes.filter(
    ({ access, publishes, audit }) => access === 'write' && publishes !== true && audit === undefined,
  );
  expect(others.map(({ name }) => name).sort()).toEqual(notAudited.sort());
});

it('only routes that need a token to change something are in the audit trail', () => {
  const audited = [...routes, ...managementRoutes].filter(({ audit }) => audit !== undefined);
  expect(audited.map(({ access, publishes }) => [access, publishes])).toEqual(
    audited.map(() => ['write', undefined]),
  );
});
