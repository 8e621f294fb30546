import { ok } from '../http/handler.ts';
import { managementApi } from '../http/managementApi.ts';
import { variable } from '../http/request.ts';
import { accountsRoutes } from '../http/routeTable.ts';
import { listAccounts } from '../management/accountList.ts';
import {
  createAccount,
  deleteAccount,
  getAccount,
  restoreAccount,
  rotateTokens,
  updateAccount,
} from '../management/accounts.ts';
import { createToken, listTokens, revokeToken, rotateToken } from '../management/tokens.ts';
import { getStats } from '../statistics/accountStats.ts';

export const handler = managementApi('accounts', accountsRoutes, {
  'GET /v2/{brand}/users': async ({ canonical }) => {
    const { accounts, next } = await listAccounts(canonical.otherQuery);
    // A relative link works for any host and path of the API.
    const link = next && `<?${new URLSearchParams(next).toString()}>; rel="next"`;
    return { ...ok(accounts), ...(link !== undefined && { headers: { link } }) };
  },
  'POST /v2/{brand}/users': async ({ request }) => ok(await createAccount(request.body, request.callerIp)),
  'GET /v2/{brand}/users/{id}': async (call) => ok(await getAccount(variable(call, 'id'))),
  'PATCH /v2/{brand}/users/{id}': async (call) =>
    ok(await updateAccount(variable(call, 'id'), call.request.body, call.request.callerIp)),
  'DELETE /v2/{brand}/users/{id}': async (call) =>
    ok(await deleteAccount(variable(call, 'id'), call.request.callerIp)),
  'POST /v2/{brand}/users/{id}/restore': async (call) =>
    ok(await restoreAccount(variable(call, 'id'), call.request.callerIp)),
  'POST /v2/{brand}/users/{id}/failure-callback/test': async (call) => {
    // Loaded only now, because the delivery client is large and this request is rare.
    const { testFailureCallback } = await import('../management/testFailureCallback.ts');
    return ok(await testFailureCallback(variable(call, 'id'), call.request.callerIp));
  },
  'POST /v2/{brand}/rotate-token/{id}': async (call) =>
    ok(await rotateTokens(variable(call, 'id'), call.request.callerIp)),
  'POST /v2/{brand}/users/{id}/tokens': async (call) => ({
    status: 201,
    body: await createToken(variable(call, 'id'), call.request.body, call.request.callerIp),
  }),
  'GET /v2/{brand}/users/{id}/tokens': async (call) => ok(await listTokens(variable(call, 'id'))),
  'DELETE /v2/{brand}/users/{id}/tokens/{tokenId}': async (call) =>
    ok(await revokeToken(variable(call, 'id'), variable(call, 'tokenId'), call.request.callerIp)),
  'POST /v2/{brand}/users/{id}/tokens/{tokenId}/rotate': async (call) => {
    const { body, callerIp } = call.request;
    return ok(await rotateToken(variable(call, 'id'), variable(call, 'tokenId'), body, callerIp));
  },
  'GET /v2/{brand}/stats/{id}': async (call) => ok(await getStats(variable(call, 'id'))),
  'GET /v2/{brand}/openapi.json': async ({ request }) => {
    const { serveDescription } = await import('../http/openapi/served.ts');
    return serveDescription('management', request);
  },
});
