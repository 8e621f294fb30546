import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Very high limits need more partitions. An account may get them later, and its limits may be lowered again. */

const receiver = useReceiver();

const entries = z.array(z.object({ messageId: z.string() }));
const page = z.object({
  logs: z.optional(entries),
  messages: z.optional(entries),
  cursor: z.optional(z.string()),
});

async function listed({ token }: AccountRecord, path: string): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { logs, messages, ...next } = page.parse(
      await ok(api('GET', `${path}${query({ count: 20, cursor })}`, { token })),
    );
    for (const { messageId } of logs ?? messages ?? []) seen.add(messageId);
    cursor = next.cursor;
  } while (cursor !== undefined);
  return seen;
}

const stats = z.object({ today: z.object({ delivered: z.number(), failed: z.number() }) });

it('an account whose limits become very high keeps everything in its lists, even after they are lowered', async () => {
  const account = await makeAccount();
  const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
  const working = receiver.inbox();
  const sent = { delivered: new Set<string>(), failed: new Set<string>() };
  const publishSome = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number += 1) {
      sent.delivered.add(messageIdOf(await publishAs(account, working.url)));
      const headers = { 'Svc-Retries': '0', 'Svc-Failure-Callback': working.url };
      sent.failed.add(messageIdOf(await publishAs(account, failing.url, { headers })));
    }
  };
  const seesAll = async (): Promise<void> => {
    const look = async () => ({
      dead: await listed(account, '/v2/dlq'),
      ...stats.parse(await ok(api('GET', '/v2/stats', { token: account.token }))).today,
    });
    await eventually(
      look,
      ({ dead, delivered, failed }) =>
        [...sent.failed].every((id) => dead.has(id)) &&
        failed === sent.failed.size &&
        // Each failed message had a callback, which was delivered.
        delivered === sent.delivered.size + sent.failed.size,
    );
    const seen = await listed(account, '/v2/logs');
    expect([...sent.delivered, ...sent.failed].filter((id) => !seen.has(id))).toEqual([]);
  };

  await publishSome(3);
  await seesAll();
  await changeAccount(account.id, { max_requests_per_second: 5_000 });
  await publishSome(10);
  // An older message that is published again is a new message, with a new partition.
  const [before = ''] = sent.delivered;
  const again = messageIdOf(await api('POST', `/v2/messages/${before}/publish`, { token: account.token }));
  expect(again).toMatch(/U$/);
  sent.delivered.add(again);
  await seesAll();
  await changeAccount(account.id, { max_requests_per_second: null });
  await publishSome(2);
  await seesAll();
  const letters = new Set([...sent.delivered, ...sent.failed].map((id) => id.slice(-1)));
  expect([...letters].some((letter) => letter > '7')).toBe(true);
});
