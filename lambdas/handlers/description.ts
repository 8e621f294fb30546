import { ok } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { descriptionRoutes } from '../http/routeTable.ts';
import { settings } from '../aws/settings.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';

const health = (): Answer<typeof answers.health> => ({ status: 'ok', region: settings.region });

export const handler = api('description', descriptionRoutes, {
  'GET /v2/health': () => ok(health()),
  'GET /v2/openapi.json': async ({ request }) => {
    // Loaded at its first request, so that a health check does not wait for it.
    const { serveDescription } = await import('../http/openapi/served.ts');
    return serveDescription('messaging', request);
  },
});
