import { ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { variable } from '../http/request.ts';
import { keysRoutes } from '../http/routeTable.ts';
import { getSigningKeys, rotateSigningKeys } from '../account/signingKeys.ts';
import { createOwnToken, listOwnTokens, revokeOwnToken, tokenChanges } from '../management/tokens.ts';

const rotate = async ({ caller }: AuthenticatedCall) => ok(await rotateSigningKeys(caller.account));

export const handler = api('keys', keysRoutes, {
  'GET /v2/keys': async ({ caller }) => ok(await getSigningKeys(caller.account)),
  'POST /v2/keys/rotate': rotate,
  'POST /v2/rotate': rotate,
  'GET /v2/tokens': async ({ caller }) => ok(await listOwnTokens(caller.account)),
  'POST /v2/tokens': async ({ caller, request }) => {
    const body = await createOwnToken(caller, request.body);
    return { status: 201, body, changes: tokenChanges(undefined, body) };
  },
  'DELETE /v2/tokens/{tokenId}': async (call) => {
    const revoked = await revokeOwnToken(call.caller.account, variable(call, 'tokenId'));
    return { ...ok(revoked), changes: tokenChanges(revoked, undefined) };
  },
});
