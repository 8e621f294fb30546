import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { beginLargeRequest, wrongJson } from '../../support/attacks.ts';
import { call, messageIdOf, publish, refusalOf, service } from '../../support/publish.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startStage, type Stage } from '../../support/stage.ts';

/**
 * Clients without a token, or with a small account’s, must not slow others down. Times are compared with a harmless request of
 * the same size, because the machine may be slow.
 */

const megabyte = 2 ** 20;

describe.runIf(service.target === 'local')('a server on one machine', () => {
  let stage: Stage;
  let receiver: Receiver;
  beforeAll(async () => {
    [stage, receiver] = await Promise.all([startStage(), startReceiver()]);
  });
  afterAll(async () => {
    await stage.remove();
    await receiver.close();
  });

  const send = (method: string, path: string, body: Uint8Array<ArrayBuffer> | string) =>
    call(path, { method, headers: { authorization: `Bearer ${stage.token}` }, body }, stage.url);

  /** Returns the longest time (ms) in which a trivial request was not answered. */
  async function longestSilence(work: () => Promise<unknown>): Promise<number> {
    const state = { isOver: false };
    const over = work().finally(() => (state.isOver = true));
    let longest = 0;
    do {
      const since = performance.now();
      await fetch(`${stage.url}/v2/health`).then((response) => response.text());
      longest = Math.max(longest, performance.now() - since);
    } while (!state.isOver);
    await over;
    return longest;
  }

  it.each(wrongJson)('refuses $what, and others hardly wait for it', async ({ method, path, body }) => {
    const harmless = Buffer.alloc(body.length, 'x');
    const inbox = receiver.inbox();
    const usual = await longestSilence(() =>
      publish(inbox.url, { url: stage.url, token: stage.token, body: harmless }),
    );
    const parsing = performance.now();
    JSON.parse(body);
    const parsed = performance.now() - parsing;
    let answer: Awaited<ReturnType<typeof call>> | undefined;
    const silence = await longestSilence(async () => {
      answer = await send(method, path, body);
    });
    // An item of a batch has its refusal in its place.
    const [item] = z.array(z.object({ status: z.number() })).safeParse(answer?.json).data ?? [];
    expect(item?.status ?? answer?.status).toBe(400);
    expect(silence).toBeLessThan(5 * (usual + parsed) + 1_500);
  });

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
    // 60 of these hold back 540 MB.
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

  it('builds its description once, however often it is requested', async () => {
    let asked = 0;
    const ask = async (): Promise<void> => {
      await (await fetch(`${stage.url}/v2/openapi.json`)).arrayBuffer();
      asked += 1;
    };
    await ask();
    const number = 20;
    const publishes = async (): Promise<void> => {
      for (let at = 0; at < number; at += 1) {
        messageIdOf(await publish(receiver.inbox().url, { url: stage.url, token: stage.token }));
      }
    };
    const timed = async (work: () => Promise<void>): Promise<number> => {
      const since = performance.now();
      await work();
      return performance.now() - since;
    };
    const usual = await timed(publishes);
    asked = 0;
    const state = { isOver: false };
    const asking = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!state.isOver) await ask();
      }),
    );
    const beside = await timed(publishes);
    const answers = asked;
    state.isOver = true;
    await asking;
    // Sending it takes as long as two publishes, and building it many times as long.
    expect(beside / answers).toBeLessThan((10 * usual) / number);
  });
});
