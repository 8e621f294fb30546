import { Receiver as Verifier } from '@upstash/qstash';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import type { Delivery } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Tests a receiver for two services, as in `docs/migration.md`. */

const receiver = useReceiver();

const keysShape = z.object({ current: z.string(), next: z.string() });

async function keysOf({ token }: AccountRecord) {
  const { current, next } = keysShape.parse(await ok(api('GET', '/v2/keys', { token })));
  return { currentSigningKey: current, nextSigningKey: next };
}

it('A receiver with the keys of two services verifies the deliveries of both, and no others', async () => {
  const [first, second, third] = await Promise.all([makeAccount(), makeAccount(), makeAccount()]);
  const hosted = new Verifier(await keysOf(first));
  class EitherReceiver extends Verifier {
    override verify(request: Parameters<Verifier['verify']>[0]): Promise<boolean> {
      return super.verify(request).catch(() => hosted.verify(request));
    }
  }
  const either = new EitherReceiver(await keysOf(second));

  const inbox = receiver.inbox();
  const delivered = async (account: AccountRecord, count: number): Promise<Delivery | undefined> => {
    await publishAs(account, inbox.url, { body: 'work', headers: { 'Upstash-Method': 'POST' } });
    return (await inbox.received(count)).at(-1);
  };
  const verified = (delivery: Delivery | undefined): Promise<boolean> =>
    either.verify({
      signature: delivery?.headers['upstash-signature'] ?? '',
      body: delivery?.body.toString() ?? '',
      url: inbox.url,
    });
  expect(await verified(await delivered(first, 1))).toBe(true);
  expect(await verified(await delivered(second, 2))).toBe(true);
  await expect(verified(await delivered(third, 3))).rejects.toThrow(/signature/i);
});
