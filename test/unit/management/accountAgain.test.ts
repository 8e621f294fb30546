import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const importLambdas = async () => ({
  ...(await import('../../../lambdas/management/accounts.ts')),
  ...(await import('../../../lambdas/account/authenticate.ts')),
  ...(await import('../../../lambdas/account/signingKeys.ts')),
  ...(await import('../../../lambdas/account/accounts.ts')),
  dynamodb: (await import('../../../lambdas/aws/dynamodb.ts')).dynamodb,
  settings: (await import('../../../lambdas/aws/settings.ts')).settings,
});

const credentials = z.object({ token: z.string(), read_only_token: z.string() });

it('an account that is created again with a deleted one’s id has none of its tokens and signing keys', async () => {
  const lambdas = await importLambdas();
  const id = randomUUID();
  const body = Buffer.from(JSON.stringify({ id }));
  const tokens = new Set<string>();
  const keys = new Set<string>();
  const note = async (record: unknown, news: { readonly tokens: number; readonly keys: number }) => {
    const { token, read_only_token } = credentials.parse(record);
    const account = await lambdas.loadAccount(id, true);
    if (account === undefined) throw new Error('There is no account.');
    const { current, next } = await lambdas.getSigningKeys(account);
    const before = { tokens: tokens.size, keys: keys.size };
    for (const one of [token, read_only_token]) tokens.add(one);
    for (const one of [current, next]) keys.add(one);
    expect({ tokens: tokens.size - before.tokens, keys: keys.size - before.keys }).toEqual(news);
    return account;
  };
  const refused = async (): Promise<void> => {
    for (const token of tokens)
      await expect(lambdas.authenticate(token)).rejects.toMatchObject({ status: 401 });
  };

  await note(await lambdas.createAccount(body), { tokens: 2, keys: 2 });
  const account = await note(await lambdas.rotateTokens(id), { tokens: 2, keys: 0 });
  await lambdas.rotateSigningKeys(account);
  await note(await lambdas.getAccount(id), { tokens: 0, keys: 1 });
  await lambdas.deleteAccount(id);
  await refused();
  await expect(lambdas.createAccount(body)).rejects.toMatchObject({ status: 409 });
  await refused();

  // 90 days later the row has expired.
  await lambdas.dynamodb.send(
    new DeleteItemCommand({ TableName: lambdas.settings.accountsTable, Key: { id: { S: id } } }),
  );
  await refused();
  const again = await lambdas.createAccount(body);
  await refused();
  const own = await note(again, { tokens: 2, keys: 2 });
  expect((await lambdas.authenticate(credentials.parse(again).token)).account.id).toBe(id);
  // A rotation does not bring back an old token or key either.
  await lambdas.rotateSigningKeys(own);
  await note(await lambdas.rotateTokens(id), { tokens: 2, keys: 1 });
});
