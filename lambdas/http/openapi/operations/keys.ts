import { signingKeys } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';

const rotation = (
  of: Pick<Operation, 'id' | 'summary' | 'description' | 'deprecated'>,
): Operation<never> => ({
  ...of,
  tag: 'Signing keys',
  variables: {},
  answers: {
    200: { description: 'The keys as they are now.', schema: 'SigningKeys', example: signingKeys },
  },
  errors: { 503: [['busy', 'The account is being changed by others; send the request again.']] },
});

export const keys: Operations<'keys'> = {
  'GET /v2/keys': {
    id: 'getSigningKeys',
    tag: 'Signing keys',
    summary: 'Get the signing keys',
    description: 'A receiver that knows both keeps recognizing deliveries when they are rotated.',
    variables: {},
    answers: { 200: { description: 'Both keys.', schema: 'SigningKeys', example: signingKeys } },
  },
  'POST /v2/keys/rotate': rotation({
    id: 'rotateSigningKeys',
    summary: 'Rotate the signing keys',
    description:
      'The next key becomes the current one, and a new one the next. Each request rotates once more: after two of them, a receiver that knew both keys knows neither.',
  }),
  'POST /v2/rotate': rotation({
    id: 'rotateSigningKeysByOldName',
    summary: 'Rotate the signing keys, by another name',
    description: 'As `POST /v2/keys/rotate`.',
    deprecated: true,
  }),
};
