import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import type { Operations } from '../parts/operation.ts';

export const descriptionRoutes = {
  'GET /v2/health': { access: 'open' },
  'GET /v2/openapi.json': { access: 'open' },
} as const satisfies RouteTable;

export const description = /* @__PURE__ */ made((): Operations<typeof descriptionRoutes> => ({
  'GET /v2/health': {
    id: 'getHealth',
    summary: 'Ask whether the service answers',
    answers: {
      200: {
        description: 'It does.',
        schema: 'Health',
        example: { status: 'ok', region: 'eu-central-1' },
      },
    },
  },
  'GET /v2/openapi.json': {
    id: 'getDescription',
    summary: 'Get this description',
    answers: {
      200: { description: 'An OpenAPI document.', schema: 'Description', example: { openapi: '3.1.1' } },
    },
  },
}));
