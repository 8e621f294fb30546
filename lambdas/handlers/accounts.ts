import { managementApi } from '../http/managementApi.ts';
import { variable } from '../http/request.ts';
import {
  createAccount,
  deleteAccount,
  getAccount,
  getStats,
  listAccounts,
  rotateTokens,
  updateAccount,
} from '../services/accounts.ts';

export const handler = managementApi<'accounts'>({
  'GET /v2/{brand}/users': async ({ canonical }) => {
    const { accounts, next } = await listAccounts(canonical.otherQuery);
    // Relative, so that it leads there under whatever host and path the API is reached.
    const link = next && `<?${new URLSearchParams(next).toString()}>; rel="next"`;
    return { status: 200, body: accounts, ...(link !== undefined && { headers: { link } }) };
  },
  'POST /v2/{brand}/users': async ({ request }) => ({
    status: 200,
    body: await createAccount(request.body),
  }),
  'GET /v2/{brand}/users/{id}': async (call) => ({
    status: 200,
    body: await getAccount(variable(call, 'id')),
  }),
  'PATCH /v2/{brand}/users/{id}': async (call) => ({
    status: 200,
    body: await updateAccount(variable(call, 'id'), call.request.body),
  }),
  'DELETE /v2/{brand}/users/{id}': async (call) => ({
    status: 200,
    body: await deleteAccount(variable(call, 'id')),
  }),
  'POST /v2/{brand}/rotate-token/{id}': async (call) => ({
    status: 200,
    body: await rotateTokens(variable(call, 'id')),
  }),
  'GET /v2/{brand}/stats/{id}': async (call) => ({ status: 200, body: await getStats(variable(call, 'id')) }),
  'GET /v2/{brand}/openapi.json': async ({ request }) => {
    const { describeManagementApi } = await import('../http/openapi/document.ts');
    const body = describeManagementApi(request.basePath);
    return { status: 200, body, headers: { 'cache-control': 'public, max-age=3600' } };
  },
});
