import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementRoutes, routes, type Route } from '../../lambdas/http/routes.ts';
import { routesIn } from '../../lambdas/http/route.ts';
import { publishRoutes } from '../../lambdas/http/routeTable.ts';
import { describedPath } from '../../lambdas/http/openapi/document.ts';
import { basic, makeAccount, type AccountRecord } from '../support/accounts.ts';
import {
  checkAnswer,
  document,
  managementDocument,
  operationOf,
  type Document,
} from '../support/contract.ts';
import { makersOf, type Makers } from '../support/fuzz/makers.ts';
import {
  allowedRequests,
  plainRequest,
  spoiledRequests,
  type FuzzedRequest,
  type Known,
  type Target,
} from '../support/fuzz/requests.ts';
import { heldInbox, type HeldInbox } from '../support/heldInbox.ts';
import { call, service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { sizeOf } from '../support/sample.ts';

/**
 * Generates valid requests and ones with one odd part from each operation’s description. Fixed seeds make runs the same except
 * for ids and ports. `npm run test:fuzz` sends many more.
 */

function targetOf(within: Document, method: string, path: string): Target {
  const described = describedPath(path);
  const operation = within.paths[described]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described.`);
  return { method, path: described, operation, within, origin: receiver.origin };
}

/** A run hangs only if its endpoint was not called for a minute. Before that, these are refused. */
const onlyAfterAMinute = new Set([
  'POST /v2/workflows/runs/{runId}/resume',
  'POST /v2/workflows/runs/{runId}/restart',
]);

const seed = 4_711;
const allowedOnes = sizeOf({ ordinary: 5, thorough: 10 });
const spoiledOnes = sizeOf({ ordinary: 10, thorough: 25 });

let receiver: Receiver;
let account: AccountRecord;
let makers: Makers;
let held: HeldInbox;
beforeAll(async () => {
  receiver = await startReceiver();
  account = await makeAccount();
  held = heldInbox(receiver);
  makers = makersOf(account, {
    ok: receiver.inbox().url,
    failing: receiver.inbox((_delivery, response) => response.writeHead(500).end('away')).url,
    held: held.url,
    deferred: receiver.inbox((_delivery, response) => response.writeHead(202).end()),
  });
});
afterAll(async () => {
  held.letGo();
  await receiver.close();
});

interface Sent {
  readonly status: number;
  readonly shown: string;
}

interface Endpoint {
  readonly url: string;
  readonly authorization: string;
}

function endpointOf(within: Document, { token = account.token }: Known): Endpoint {
  const { management } = service;
  return within === document
    ? { url: service.url, authorization: `Bearer ${token}` }
    : { url: management.url, authorization: basic(management.user, management.password) };
}

async function send(
  { url, authorization }: Endpoint,
  { method, path, headers, body }: FuzzedRequest,
): Promise<Sent> {
  const answer = await call(
    path,
    { method, headers: { ...headers, authorization }, ...(body !== undefined && { body }) },
    url,
  );
  const shown =
    `${method} ${path}\n${JSON.stringify({ headers, body })}\n${JSON.stringify(answer.json)}`.slice(0, 3_000);
  expect(answer.status, shown).toBeLessThan(500);
  // An answer to HEAD has no body.
  if (method === 'HEAD') return { status: answer.status, shown };
  try {
    checkAnswer(operationOf(method, path), answer);
  } catch (error) {
    throw new Error(`The answer is not as described: ${shown}`, { cause: error });
  }
  return { status: answer.status, shown };
}

describe.runIf(service.target === 'local').each<[api: string, within: Document, table: readonly Route[]]>([
  ['messaging', document, routes],
  ['management', managementDocument, managementRoutes],
])('requests made from the description of the %s API', (_api, within, table) => {
  it.each(table.map(({ method, path }) => ({ method, path })))('$method $path', async ({ method, path }) => {
    const target = targetOf(within, method, path);
    const known = await makers.knownFor(method, path);
    for (const request of [
      ...fc.sample(spoiledRequests(target, known), { seed, numRuns: spoiledOnes }),
      ...fc.sample(allowedRequests(target, known), { seed, numRuns: allowedOnes }),
    ]) {
      await send(endpointOf(within, known), request);
    }
    // Earlier resources may be gone by now.
    const afresh = await makers.knownFor(method, path);
    const { status, shown } = await send(endpointOf(within, afresh), plainRequest(target, afresh));
    if (onlyAfterAMinute.has(`${method} ${path}`)) expect(status, shown).toBe(400);
    else expect(status, shown).toBeLessThan(300);
  });
});

const elsewhereEach = sizeOf({ ordinary: 4, thorough: 8 });

describe.runIf(service.target === 'local')('requests through the publish URL', () => {
  it.each(routesIn('publish', publishRoutes).map(({ method, path }) => ({ method, path })))(
    '$method $path',
    async (route) => {
      const target = targetOf(document, route.method, route.path);
      const known = await makers.knownFor(route.method, route.path);
      const endpoint = { url: service.publishUrl, authorization: `Bearer ${account.token}` };
      const odd = fc.sample(spoiledRequests(target, known), { seed, numRuns: elsewhereEach });
      for (const request of odd) await send(endpoint, request);
      const { status, shown } = await send(endpoint, plainRequest(target, known));
      expect(status, shown).toBeLessThan(300);
    },
  );
});

describe.runIf(service.target === 'local')('requests with the read-only token', () => {
  it.each(routes.map(({ method, path, access }) => ({ method, path, access })))(
    '$method $path',
    async ({ method, path, access }) => {
      const target = targetOf(document, method, path);
      const endpoint = { url: service.url, authorization: `Bearer ${account.read_only_token}` };
      // A request that changes something is refused before it is known whether the resource exists.
      const odd = fc.sample(spoiledRequests(target, {}), { seed, numRuns: elsewhereEach });
      for (const request of odd) {
        const { status, shown } = await send(endpoint, request);
        if (access === 'write') expect(status, shown).toBeGreaterThanOrEqual(400);
      }
      const { status, shown } = await send(endpoint, plainRequest(target, {}));
      if (access === 'write') expect(status, shown).toBe(403);
      if (access === 'read') expect(status, shown).not.toBe(403);
    },
  );
});
