import { forbidden } from '../error/httpError.ts';
import { ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { variable } from '../http/request.ts';
import { keysRoutes } from '../http/routeTable.ts';
import { getSigningKeys, rotateOwnTokens, rotateSigningKeys } from '../account/signingKeys.ts';
import {
  createOwnToken,
  listOwnTokens,
  revokeOwnToken,
  rotateOwnToken,
  tokenChanges,
} from '../management/tokens.ts';

const onlyItself =
  'The token is a named one; only the account’s own token, or the operator of the service, rotates that.';

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
  'POST /v2/tokens/rotate': async ({ caller }) => {
    // A named token must not get a token that stays valid when it is revoked itself.
    if (caller.named !== undefined) throw forbidden('token_scope_exceeded', onlyItself);
    return ok(await rotateOwnTokens(caller.account));
  },
  'POST /v2/tokens/{tokenId}/rotate': async (call) => ({
    status: 200,
    ...(await rotateOwnToken(call.caller, variable(call, 'tokenId'), call.request.body)),
  }),
  'DELETE /v2/tokens/{tokenId}': async (call) => {
    const revoked = await revokeOwnToken(call.caller.account, variable(call, 'tokenId'));
    return { ...ok(revoked), changes: tokenChanges(revoked, undefined) };
  },
});
