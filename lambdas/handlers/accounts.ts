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

/** Made when somebody asks for it first. */
let document: object | undefined;

export const handler = managementApi<'accounts'>({
  'GET /v2/{brand}/users': async ({ request, canonical }) => {
    const { accounts, next } = await listAccounts(Object.fromEntries(canonical.otherQuery));
    const link = next && `<${request.rawPath}?${new URLSearchParams(next).toString()}>; rel="next"`;
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
  'GET /v2/{brand}/openapi.json': async () => {
    document ??= (await import('../http/openapi/document.ts')).describeManagementApi();
    return { status: 200, body: document, headers: { 'cache-control': 'public, max-age=3600' } };
  },
});
