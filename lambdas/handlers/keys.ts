import { api } from '../http/api.ts';
import { getSigningKeys, rotateSigningKeys } from '../services/signingKeys.ts';

export const handler = api<'keys'>({
  'GET /v2/keys': async ({ caller }) => ({ status: 200, body: await getSigningKeys(caller.account) }),
  'POST /v2/keys/rotate': async ({ caller }) => ({
    status: 200,
    body: await rotateSigningKeys(caller.account),
  }),
});
