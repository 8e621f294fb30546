import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { beginLargeRequest, wrongJson } from '../../support/attacks.ts';
import { call, messageIdOf, publish, refusalOf, service } from '../../support/publish.ts';
import { clockStage } from '../../support/clockStage.ts';
import type { Stage } from '../../support/stage.ts';
import { useReceiver } from '../../support/useReceiver.ts';

/**
 * Clients without a token, or with a small account’s, must not slow others down. Times are compared with a harmless request of
 * the same size.
 */

const megabyte = 2 ** 20;

describe.runIf(service.target === 'local')('a server on one machine', () => {
  const receiver = useReceiver();
  let stage: Stage;
  beforeAll(async () => {
    stage = await clockStage();
  });

  const send = (method: string, path: string, body: Uint8Array<ArrayBuffer> | string) =>
    call(path, { method, headers: { authorization: `Bearer ${stage.token}` }, body }, stage.url);

  /** Returns the time (ms) that the stage computed during some work. Others wait no longer, however busy the machine is. */
  async function computed(work: () => Promise<unknown>): Promise<number> {
    const spent = (): number => {
      const fields = readFileSync(`/proc/${stage.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      // Ticks of a hundredth of a second, in user mode and in the kernel.
      return 10 * (Number(fields[11]) + Number(fields[12]));
    };
    const before = spent();
    await work();
    return spent() - before;
  }

  it.runIf(process.platform === 'linux').each(wrongJson)(
    'refuses $what, and others hardly wait for it',
    async ({ method, path, body }) => {
      const harmless = Buffer.alloc(body.length, 'x');
      const usual = await computed(() =>
        publish(receiver.inbox().url, { url: stage.url, token: stage.token, body: harmless }),
      );
      const parsing = process.cpuUsage();
      JSON.parse(body);
      const parsed = process.cpuUsage(parsing).user / 1_000;
      let answer: Awaited<ReturnType<typeof call>> | undefined;
      const silence = await computed(async () => {
        answer = await send(method, path, body);
      });
      // In a batch, the refusal of an item is in the item's place.
      const [item] = z.array(z.object({ status: z.number() })).safeParse(answer?.json).data ?? [];
      expect(item?.status ?? answer?.status).toBe(400);
      expect(silence).toBeLessThan(5 * (usual + parsed) + 1_500);
    },
  );

  const memory = (): number => {
    const [, kilobytes = ''] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${stage.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  };

  it.runIf(process.platform === 'linux')('keeps no large body of a request without a token', async () => {
    const sockets: Socket[] = [];
    const before = memory();
    const chunk = Buffer.alloc(megabyte, 'x');
    for (let number = 0; number < 60; number += 1) {
      const socket = beginLargeRequest(stage.url);
      await once(socket, 'connect');
      for (let part = 0; part < 9; part += 1) {
        if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      }
      sockets.push(socket);
    }
    // 60 of these bodies have 540 MB.
    expect(memory() - before).toBeLessThan(200 * megabyte);
    const inbox = receiver.inbox();
    messageIdOf(await publish(inbox.url, { url: stage.url, token: stage.token, body: 'mine' }));
    await inbox.received(1);
    for (const socket of sockets) socket.destroy();
  });

  it('says what is wrong with the token of a large request without reading its body', async () => {
    const refused = await publish('https://example.com/', {
      url: stage.url,
      token: 'none',
      body: Buffer.alloc(3 * megabyte),
    });
    expect([refused.status, refusalOf(refused).code]).toEqual([401, 'token_invalid']);
    const inbox = receiver.inbox();
    const body = Buffer.alloc(3 * megabyte, 'y');
    messageIdOf(await publish(inbox.url, { url: stage.url, token: stage.token, body }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.equals(body)).toBe(true);
  });
});
