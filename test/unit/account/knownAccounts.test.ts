import { beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const importLambdas = async () => ({
  ...(await import('../../../lambdas/management/accounts.ts')),
  ...(await import('../../../lambdas/account/authenticate.ts')),
  dynamodb: (await import('../../../lambdas/aws/dynamodb.ts')).dynamodb,
});
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
let reads = 0;

beforeAll(async () => {
  lambdas = await importLambdas();
  lambdas.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'GetItemCommand') reads += 1;
        return next(args);
      },
    { step: 'initialize', name: 'watch' },
  );
});

const record = z.object({ id: z.string(), token: z.string() });

const accountWith = async (requestsPerSecond: number) => {
  const body = { type: 'paid', max_requests_per_second: requestsPerSecond };
  return record.parse(await lambdas.createAccount(Buffer.from(JSON.stringify(body))));
};

async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const before = reads;
  await work();
  return reads - before;
}

async function send(token: string, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) await lambdas.authenticate(token);
}

const refusal = { status: 401, code: 'token_invalid' };

it('an account is read for each request, so that a token reset applies at once', async () => {
  const { id, token } = await accountWith(2_000);
  expect(await readsOf(() => send(token, 5))).toBe(5);
  const after = record.parse(await lambdas.rotateTokens(id));
  await expect(lambdas.authenticate(token)).rejects.toMatchObject(refusal);
  await send(after.token, 1);
});

it('an account with very many requests is read once a second', async () => {
  const { token } = await accountWith(2_001);
  vi.useFakeTimers({ toFake: ['Date'] });
  expect(await readsOf(() => send(token, 50))).toBe(1);
  vi.setSystemTime(Date.now() + 999);
  expect(await readsOf(() => send(token, 50))).toBe(0);
  vi.setSystemTime(Date.now() + 1);
  expect(await readsOf(() => send(token, 50))).toBe(1);
});

it('and a token reset applies within a second, while the new token is valid at once', async () => {
  const { id, token } = await accountWith(20_000);
  vi.useFakeTimers({ toFake: ['Date'] });
  await send(token, 1);
  const after = record.parse(await lambdas.rotateTokens(id));
  await send(token, 1);
  await send(after.token, 1);
  // A request with the new token makes the process reject the old one.
  await expect(lambdas.authenticate(token)).rejects.toMatchObject(refusal);

  await send(after.token, 1);
  await lambdas.updateAccount(id, Buffer.from('{"active":false}'));
  await send(after.token, 1);
  vi.setSystemTime(Date.now() + 1_000);
  await expect(lambdas.authenticate(after.token)).rejects.toMatchObject({
    status: 401,
    code: 'account_inactive',
  });
});

it('a refused token costs one more read', async () => {
  const { id, token } = await accountWith(20_000);
  await send(token, 1);
  const old = token;
  await lambdas.rotateTokens(id);
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(Date.now() + 2_000);
  expect(await readsOf(() => lambdas.authenticate(old).catch(() => undefined))).toBe(1);
  expect(await readsOf(() => lambdas.authenticate(old).catch(() => undefined))).toBe(1);
});
