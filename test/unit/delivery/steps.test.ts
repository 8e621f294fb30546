import { Command } from '@smithy/core/client';
import { expect, it, vi } from 'vitest';
import { useWorld } from '../../support/useWorld.ts';
import type { World } from '../../support/world.ts';

let world: World;
let loadAccount: (id: string, consistent: boolean) => Promise<object | undefined>;
useWorld(async (opened) => {
  world = opened;
  ({ loadAccount } = await import('../../../lambdas/account/accounts.ts'));
  const [{ dynamodb }, { sqs }] = await Promise.all([
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  // As the functions have it. Other tests add steps after a first call.
  for (const { config } of [dynamodb, sqs]) config.cacheMiddleware = true;
});

it('A process that has published and delivered puts no steps of an AWS client together again', async () => {
  const resolved = vi.spyOn(Command.prototype, 'resolveMiddlewareWithContext');
  const inbox = world.receiver.inbox();
  const pass = async (count: number): Promise<void> => {
    for (let message = 0; message < count; message += 1) {
      // As each request to the API does.
      expect(await loadAccount(world.account.id, true)).toBeDefined();
      await world.send(inbox.url);
    }
    await world.drain();
  };
  await pass(2);
  const atFirst = resolved.mock.calls.length;
  expect(atFirst).toBeGreaterThan(2);
  await pass(5);
  expect(resolved.mock.calls.length).toBe(atFirst);
});
