import { api } from '../http/api.ts';
import { health } from '../services/health.ts';

export const handler = api<'description'>({
  'GET /v2/health': () => ({ status: 200, body: health() }),
  'GET /v2/openapi.json': async ({ request }) => {
    // Loaded when somebody asks for it first: a question for the health does not wait for it.
    const { describeApi } = await import('../http/openapi/document.ts');
    const body = describeApi(request.basePath);
    return { status: 200, body, headers: { 'cache-control': 'public, max-age=3600' } };
  },
});
