import { ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { keysRoutes } from '../http/routeTable.ts';
import { getSigningKeys, rotateSigningKeys } from '../account/signingKeys.ts';

const rotate = async ({ caller }: AuthenticatedCall) => ok(await rotateSigningKeys(caller.account));

export const handler = api<'keys'>(keysRoutes, {
  'GET /v2/keys': async ({ caller }) => ok(await getSigningKeys(caller.account)),
  'POST /v2/keys/rotate': rotate,
  'POST /v2/rotate': rotate,
});
