import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementRoutes, routes, type Route } from '../../lambdas/http/routes.ts';
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
  type Target,
} from '../support/fuzz/requests.ts';
import { heldInbox, type HeldInbox } from '../support/heldInbox.ts';
import { call, service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

/**
 * Every operation is sent requests that are made from its description: those that it allows, and those with one odd part.
 * The seeds are fixed, so each run sends the same, but for ids and ports. `npm run test:fuzz` sends many more.
 */

const seed = 4_711;
const allowedOnes = 10;
const spoiledOnes = 25;

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
  });
});
afterAll(async () => {
  held.letGo();
  await receiver.close();
});

interface Sent {
  readonly status: number;
  /** The request and its answer, for whoever reads of a failure. */
  readonly shown: string;
}

/** Sends a request with the rights that its operation asks for, and checks that the answer is as described. */
async function send(within: Document, { method, path, headers, body }: FuzzedRequest): Promise<Sent> {
  const { management } = service;
  const authorization =
    within === document ? `Bearer ${account.token}` : basic(management.user, management.password);
  const answer = await call(
    path,
    { method, headers: { ...headers, authorization }, ...(body !== undefined && { body }) },
    within === document ? service.url : management.url,
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
    const described = describedPath(path);
    const operation = within.paths[described]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`${method} ${path} is not described.`);
    const target: Target = { method, path: described, operation, within, origin: receiver.origin };
    const known = await makers.knownFor(method, path);
    for (const request of [
      ...fc.sample(spoiledRequests(target, known), { seed, numRuns: spoiledOnes }),
      ...fc.sample(allowedRequests(target, known), { seed, numRuns: allowedOnes }),
    ]) {
      await send(within, request);
    }
    // What was made before may be gone by now.
    const { status, shown } = await send(within, plainRequest(target, await makers.knownFor(method, path)));
    expect(status, shown).toBeLessThan(300);
  });
});
