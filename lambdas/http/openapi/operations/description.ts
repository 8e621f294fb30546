import type { Operations } from '../parts/operation.ts';

export const description: Operations<'description'> = {
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
};
