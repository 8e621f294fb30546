import { api } from '../http/api.ts';
import { health } from '../services/health.ts';

export const handler = api<'description'>({
  'GET /v2/health': () => ({ status: 200, body: health() }),
});
