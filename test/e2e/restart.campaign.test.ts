import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { isReachable, parseAllowedDestinations } from '../../lambdas/destination/addresses.ts';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, publish, service, type Answer } from '../support/publish.ts';
import { startReceiver, type Delivery, type Receiver } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';
const numberOf = (delivery: Delivery): number => Number(delivery.body.toString());
const failsAtFirst = (number: number): boolean => number % 3 === 0;

function countById(deliveries: readonly Delivery[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const delivery of deliveries) counts.set(idOf(delivery), (counts.get(idOf(delivery)) ?? 0) + 1);
  return counts;
}

describe.runIf(service.target === 'local')('a local stage', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  it('that is killed among 500 messages delivers every accepted one', async () => {
    let stage: Stage = await startStage();
    try {
      const { url, token, currentSigningKey, dataDir } = stage;
      const seen = new Set<string>();
      const storm = receiver.inbox((delivery, response) => {
        const fails = failsAtFirst(numberOf(delivery)) && !seen.has(idOf(delivery));
        seen.add(idOf(delivery));
        // Some answers are sent after the stage that waits for them was killed.
        setTimeout(() => response.writeHead(fails ? 500 : 200).end(), numberOf(delivery) % 50);
      });
      const accepted = new Set<string>();
      const send = async (number: number): Promise<void> => {
        const headers = {
          'Svc-Timeout': number % 2 === 0 ? '20s' : '60s',
          'Svc-Delay': `${number % 4}s`,
          'Svc-Retry-Delay': '1000',
        };
        const init = { url, token, body: String(number), headers };
        // A message whose answer the kill cut off may be accepted or not, so its sender would repeat it.
        const answer: Answer | undefined = await publish(storm.url, init).catch(() => undefined);
        if (answer !== undefined) accepted.add(messageIdOf(answer));
      };
      const sending = Promise.all(
        Array.from({ length: 10 }, async (_, lane) => {
          for (let number = lane; number < 500; number += 10) await send(number);
        }),
      );
      await storm.until(() => accepted.size > 120);
      await stage.kill();
      await sending;

      stage = await startStage({ dataDir });
      expect([stage.token, stage.currentSigningKey]).toEqual([token, currentSigningKey]);
      await storm.until((deliveries) => {
        const counts = countById(deliveries);
        return [...accepted].every((id) => counts.has(id));
      });
      // Messages that failed at first were retried, before or after the kill.
      await storm.until((deliveries) => {
        const counts = countById(deliveries);
        return deliveries.every(
          (delivery) => !failsAtFirst(numberOf(delivery)) || (counts.get(idOf(delivery)) ?? 0) > 1,
        );
      });
    } finally {
      await stage.remove();
    }
  });

  it('that is killed repeatedly under load delivers what it accepted just before', async () => {
    let stage: Stage = await startStage();
    const { dataDir } = stage;
    const arrived = receiver.inbox();
    const accepted = new Set<string>();
    let number = 0;
    try {
      for (let kills = 1; kills <= 3; kills += 1) {
        const { url, token } = stage;
        const publishUntilKilled = async (): Promise<void> => {
          for (;;) {
            number += 1;
            const init = { url, token, body: String(number), headers: { 'Svc-Timeout': '20s' } };
            const answer = await publish(arrived.url, init).catch(() => undefined);
            if (answer === undefined) return;
            accepted.add(messageIdOf(answer));
          }
        };
        const publishers = Array.from({ length: 32 }, publishUntilKilled);
        const enough = accepted.size + 150;
        await arrived.until(() => accepted.size >= enough);
        await stage.kill();
        await Promise.all(publishers);
        stage = await startStage({ dataDir });
      }
      await arrived.until((deliveries) => {
        const ids = new Set(deliveries.map(idOf));
        return [...accepted].every((id) => ids.has(id));
      });
    } finally {
      await stage.remove();
    }
  });

  it('finishes the attempts in flight when it is told to end, and exits with 0', async () => {
    const stage = await startStage();
    try {
      const { url, token } = stage;
      let answered = false;
      const slow = receiver.inbox((_delivery, response) => {
        setTimeout(() => {
          answered = true;
          response.writeHead(200).end();
        }, 1_500);
      });
      await publish(slow.url, { url, token });
      await slow.received(1);
      expect([await stage.stop(), answered]).toEqual([0, true]);

      const again = await startStage({ dataDir: stage.dataDir });
      const marker = receiver.inbox();
      await publish(marker.url, { url: again.url, token: again.token });
      await marker.received(1);
      expect(slow.deliveries).toHaveLength(1);
      await again.stop();
    } finally {
      await stage.remove();
    }
  });

  it('that allows no private destinations refuses them by address and by name', async () => {
    const stage = await startStage({ args: ['--allowed-destinations', 'none'] });
    try {
      const { url, token } = stage;
      const { port } = new URL(receiver.origin);
      const refused = [
        '127.0.0.1',
        'localhost',
        '[::1]',
        '2130706433',
        '0x7f.1',
        '169.254.169.254',
        '10.0.0.1',
      ];
      for (const host of refused) {
        const answer = await publish(`http://${host}:${port}/x`, { url, token });
        expect([host, answer.status]).toEqual([host, 403]);
      }
    } finally {
      await stage.remove();
    }
  });

  it('that allows no private destinations refuses a name that resolves to one when it connects', async (context) => {
    const name = await privateName();
    if (name === undefined) {
      context.skip('This machine knows no name of a private address.');
      return;
    }
    const stage = await startStage({ args: ['--allowed-destinations', 'none'] });
    try {
      const { url, token } = stage;
      const { port } = new URL(receiver.origin);
      const inbox = receiver.inbox();
      const { pathname } = new URL(inbox.url);
      const destination = `http://${name}:${port}${pathname}`;
      const messageId = messageIdOf(
        await publish(destination, { url, token, headers: { 'Svc-Retries': '0' } }),
      );
      const headers = { authorization: `Bearer ${token}` };
      const [entry] = await eventually(
        async () =>
          dlqPage.parse((await call(`/v2/dlq?messageId=${messageId}`, { headers }, url)).json).messages,
        (messages) => messages.length === 1,
      );
      expect(entry).toMatchObject({
        responseStatus: 0,
        error: expect.stringContaining('not public') as string,
      });
      expect(inbox.deliveries).toHaveLength(0);
    } finally {
      await stage.remove();
    }
  });

  it('logs in JSON with the message id, but no token, key, header, body or query', async () => {
    const stage = await startStage({ env: { POWERTOOLS_LOG_LEVEL: 'DEBUG' } });
    try {
      const { url, token, readOnlyToken, currentSigningKey, nextSigningKey, management } = stage;
      const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end('secret-answer'));
      const query = `svc_token=${encodeURIComponent(token)}&svc-retries=0&key=secret-query`;
      const init = {
        url,
        token: null,
        query,
        body: 'secret-body',
        headers: { 'Svc-Forward-X-Key': 'secret-header' },
      };
      const messageId = messageIdOf(await publish(inbox.url, init));
      await publish(inbox.url, { url, token: readOnlyToken, body: 'secret-body' });
      await inbox.received(1);
      expect(await stage.stop()).toBe(0);
      const lines = stage
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      const logged = lines.map((line) => logLine.parse(JSON.parse(line)));
      expect(logged.some((line) => line.messageId === messageId && line.level === 'WARN')).toBe(true);
      const secrets = [
        token,
        readOnlyToken,
        currentSigningKey,
        nextSigningKey,
        management.password,
        'secret-',
      ];
      for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret);
    } finally {
      await stage.remove();
    }
  });
});

const dlqPage = z.object({ messages: z.array(z.object({ responseStatus: z.number(), error: z.string() })) });
const logLine = z.looseObject({ level: z.string(), messageId: z.optional(z.string()) });

/** Returns a common host name that resolves to an address that is not public. */
async function privateName(): Promise<string | undefined> {
  for (const name of [hostname(), 'ip6-localhost', 'localhost.localdomain']) {
    const addresses = await lookup(name, { all: true }).catch(() => []);
    const isPrivate = ({ address }: { address: string }): boolean => !isReachable(address, nothingAllowed);
    if (addresses.length > 0 && addresses.every(isPrivate)) return name;
  }
  return undefined;
}

const nothingAllowed = parseAllowedDestinations([]);
