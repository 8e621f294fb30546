import { api } from '../http/api.ts';
import { health } from '../services/health.ts';

/** Made when somebody asks for it first: a question for the health does not wait for it. */
let document: object | undefined;

export const handler = api<'description'>({
  'GET /v2/health': () => ({ status: 200, body: health() }),
  'GET /v2/openapi.json': async () => {
    document ??= (await import('../http/openapi/document.ts')).describeApi();
    return { status: 200, body: document, headers: { 'cache-control': 'public, max-age=3600' } };
  },
});
