import { describe, expect, it } from 'vitest';
import { routes } from '../../lambdas/http/routes.ts';
import { api } from '../support/api.ts';
import { errorOf, service } from '../support/publish.ts';

/** Returns a route’s path with its variables and required parameters filled in. */
const pathOf = (template: string): string =>
  template
    .replace('{destination+}', 'https://example.com')
    .replace(/\{\w+\+?\}/g, 'read-only')
    .replace('/v2/cron', '/v2/cron?expression=@daily');

describe('the read-only token', () => {
  it.each(routes.filter(({ access }) => access === 'write'))(
    'may not $method $path',
    async ({ method, path }) => {
      const answer = await api(method, pathOf(path), { token: service.readOnlyToken });
      expect([answer.status, errorOf(answer)]).toEqual([
        403,
        expect.stringMatching(/^The token is read-only/),
      ]);
    },
  );

  it.each(routes.filter(({ access }) => access !== 'write'))(
    'may $method $path',
    async ({ method, path }) => {
      const { status } = await api(method, pathOf(path), {
        token: service.readOnlyToken,
      });
      // Some require a parameter.
      expect([200, 400, 404]).toContain(status);
    },
  );
});
