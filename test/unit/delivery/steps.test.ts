import { Command } from '@smithy/core/client';
import { expect, it, vi } from 'vitest';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let loadAccount: (id: string, consistent: boolean) => Promise<object | undefined>;
useFixture(async (opened) => {
  fixture = opened;
  ({ loadAccount } = await import('../../../lambdas/account/accounts.ts'));
  const [{ dynamodb }, { sqs }] = await Promise.all([
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  // Like in the functions. Other tests add steps after a first call.
  for (const { config } of [dynamodb, sqs]) config.cacheMiddleware = true;
});

it('A process that has published and delivered does not build the middleware of an AWS client again', async () => {
  const resolved = vi.spyOn(Command.prototype, 'resolveMiddlewareWithContext');
  const inbox = fixture.receiver.inbox();
  const pass = async (count: number): Promise<void> => {
    for (let message = 0; message < count; message += 1) {
      expect(await loadAccount(fixture.account.id, true)).toBeDefined();
      await fixture.send(inbox.url);
    }
    await fixture.drain();
  };
  await pass(2);
  const atFirst = resolved.mock.calls.length;
  expect(atFirst).toBeGreaterThan(2);
  await pass(5);
  expect(resolved.mock.calls.length).toBe(atFirst);
});
