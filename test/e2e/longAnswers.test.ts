import { describe, expect, it } from 'vitest';
import { makeAccount } from '../support/accounts.ts';
import { clockStage } from '../support/clockStage.ts';
import { heldInbox } from '../support/heldInbox.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const waiting = 300;

describe.runIf(service.target === 'local')('a stage', () => {
  it(`has room for quick answers while it waits for ${waiting} others`, async () => {
    const { url, management } = await clockStage();
    const limits = { timeout: 12 * 3_600, max_global_parallelism: 2 * waiting };
    const { token } = await makeAccount(limits, management);
    const send = async (destination: string, timeout: string): Promise<string> =>
      messageIdOf(await publish(destination, { url, token, headers: { 'Svc-Timeout': timeout } }));
    const slow = heldInbox(receiver);
    // One by one, so that each has a separate invocation.
    for (let sent = 1; sent <= waiting; sent += 1) {
      await send(slow.url, '12h');
      await slow.received(sent);
    }
    const quick = receiver.inbox();
    for (const timeout of ['10s', '12h']) await send(quick.url, timeout);
    await quick.received(2);
    expect(slow.deliveries).toHaveLength(waiting);
    slow.letGo();
  });
});
