import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage } from '../support/accounts.ts';
import { api, logEntry, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const hours = 12;
const longest = hours * 3_600;
const waiting = 1_000;

let stage: Stage | undefined;
afterEach(() => stage?.remove());

function heldInbox(): Inbox & { readonly letGo: () => void } {
  const held: ServerResponse[] = [];
  return {
    ...receiver.inbox((_delivery, response) => held.push(response)),
    letGo: () => {
      for (const response of held) response.writeHead(200).end();
    },
  };
}

const patientAccount = ({ management }: Stage, fields: object = { timeout: longest }) =>
  makeAccount({ ...fields }, management);

interface Sender {
  readonly url: string;
  readonly token: string;
}

const send = async ({ url, token }: Sender, destination: string, timeout: string): Promise<string> =>
  messageIdOf(await publish(destination, { url, token, headers: { 'Svc-Timeout': timeout }, body: 'work' }));

const logPage = z.object({ logs: z.array(logEntry) });

async function logOf({ url, token }: Sender, messageId: string): Promise<readonly string[]> {
  const page = await ok(api('GET', `/v2/logs${query({ messageId })}`, { url, token }));
  return logPage.parse(page).logs.map(({ state }) => state);
}

describe.runIf(service.target === 'local')('a stage', () => {
  it(`has room for quick answers while it waits for ${waiting} others`, async () => {
    stage = await startStage();
    const { url } = stage;
    const limits = { timeout: longest, max_global_parallelism: 2 * waiting };
    const { token } = await patientAccount(stage, limits);
    const slow = heldInbox();
    // One by one, so that each has a separate invocation.
    for (let sent = 1; sent <= waiting; sent += 1) {
      await send({ url, token }, slow.url, `${hours}h`);
      await slow.received(sent);
    }
    const quick = receiver.inbox();
    for (const timeout of ['10s', `${hours}h`]) await send({ url, token }, quick.url, timeout);
    await quick.received(2);
    expect(slow.deliveries).toHaveLength(waiting);
    slow.letGo();
  });

  it.each(['stop', 'kill'] as const)('repeats an attempt once, soon after a %s', async (way) => {
    stage = await startStage();
    const { dataDir } = stage;
    const { token } = await patientAccount(stage);
    const slow = heldInbox();
    const messageId = await send({ url: stage.url, token }, slow.url, `${hours}h`);
    await slow.received(1);
    await stage[way]();
    stage = await startStage({ dataDir });
    const { url } = stage;
    await slow.received(2);
    slow.letGo();
    const states = await eventually(
      () => logOf({ url, token }, messageId),
      (all) => all.includes('DELIVERED'),
    );
    expect(states.filter((state) => state === 'DELIVERED')).toHaveLength(1);
    expect(slow.deliveries).toHaveLength(2);
  });

  it.each([
    ['functions', 840, ' (5280 where the deployment has the setting longDelivery: instances)'],
    ['instances', 5_280, ''],
    [undefined, longest, ''],
  ])('that waits as %s refuses a longer timeout', async (longDelivery, most, more) => {
    stage = await startStage({
      env: longDelivery === undefined ? {} : { SVC_TEST_LONG_DELIVERY: longDelivery },
    });
    const { management } = stage;
    expect(await patientAccount(stage, { timeout: most })).toMatchObject({ timeout: most });
    const refused = await manage('POST', '/v2/svc/users', { body: { timeout: most + 1 }, management });
    expect([refused.status, refused.json]).toMatchObject([
      400,
      {
        error: `timeout is ${most + 1}; allowed is a whole number from 1 to ${most}${more}, or null for the plan's own.`,
      },
    ]);
  });
});
