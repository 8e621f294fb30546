import { Receiver as Verifier } from '@upstash/qstash';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import type { Delivery } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Tests a receiver for two services, as in `docs/guides/nextjs-from-qstash.md`. */

const receiver = useReceiver();

const keysShape = z.object({ current: z.string(), next: z.string() });

const keysOf = async ({ token }: AccountRecord) =>
  keysShape.parse(await ok(api('GET', '/v2/keys', { token })));

it('A receiver with the current keys of two services verifies the deliveries of both, and no others', async () => {
  const [first, second, third] = await Promise.all([makeAccount(), makeAccount(), makeAccount()]);
  const [hosted, own] = await Promise.all([keysOf(first), keysOf(second)]);
  const either = new Verifier({ currentSigningKey: own.current, nextSigningKey: hosted.current });

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
