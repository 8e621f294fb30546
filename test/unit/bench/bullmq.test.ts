import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { measureLoad, startDestination, type Destination } from '../../../bench/against/bullmq/load.ts';
import { cpuMsOf } from '../../../bench/against/bullmq/processCpu.ts';
import { startRedis } from '../../../bench/against/bullmq/redis.ts';
import type { Rival } from '../../../bench/against/bullmq/rivals.ts';
import { BenchError } from '../../../bench/benchError.ts';
import { close, listen } from '../../../local/http.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of closing.splice(0)) await end();
});

/** A service that answers each message, and delivers it when it is told to. */
async function startForwarder(status = 200) {
  const held: string[] = [];
  const sent: Promise<unknown>[] = [];
  const { server, url } = await listen((incoming, response) => {
    held.push(incoming.url?.slice(1) ?? '');
    incoming.resume().once('end', () => response.writeHead(status).end());
  });
  closing.push(() => close(server));
  const rival: Rival = {
    name: 'forwarder',
    publishUrl: `${url}/`,
    headers: {},
    pids: [process.pid],
    close: async () => {},
  };
  const deliver = (times: number): void => {
    for (const url of held.splice(0)) {
      for (let time = 0; time < times; time += 1) sent.push(fetch(url, { method: 'POST' }));
    }
  };
  return { rival, deliver, sent };
}

async function openDestination(): Promise<Destination> {
  const destination = await startDestination();
  closing.push(() => destination.close());
  return destination;
}

describe('a load', () => {
  it('counts each message once, and what has not arrived when publishing ends', async () => {
    const [{ rival, deliver, sent }, destination] = [await startForwarder(), await openDestination()];
    const { messages, backlog, arrivalMs, perSecond } = await measureLoad(rival, destination, {
      atOnce: 4,
      waitsForArrival: false,
      goesOn: (published) => {
        if (published < 10) return true;
        // All that are published arrive after the publishers have seen the end.
        setImmediate(() => {
          setImmediate(deliver, 2);
        });
        return false;
      },
    });
    await Promise.all(sent);
    expect(sent).toHaveLength(20);
    expect(messages).toBe(10);
    expect(backlog).toBeGreaterThan(0);
    expect(backlog).toBeLessThanOrEqual(1);
    expect(destination.arrived()).toBe(10);
    expect(arrivalMs).toBeGreaterThan(0);
    expect(perSecond).toBeGreaterThan(0);
  });

  it('fails where a message is not accepted', async () => {
    const [{ rival }, destination] = [await startForwarder(429), await openDestination()];
    const load = { atOnce: 1, waitsForArrival: true, goesOn: () => true };
    await expect(measureLoad(rival, destination, load)).rejects.toThrow('A message was answered with 429.');
  });
});

it.runIf(process.platform === 'linux')(
  'CPU time is that of a process with those that it has started',
  async () => {
    // The shell waits for a child that counts.
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        `"${process.execPath}" -e "for (let i = 0; i < 3e8; i++); console.log(1); setInterval(() => {}, 1000)" | { read _; echo ready; cat; }`,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      },
    );
    const { pid } = child;
    if (pid === undefined) throw new Error('The shell did not start.');
    try {
      await once(child.stdout, 'data');
      expect(cpuMsOf([pid])).toBeGreaterThan(10);
      expect(cpuMsOf([])).toBe(0);
    } finally {
      process.kill(-pid, 'SIGKILL');
    }
  },
);

it('without Redis there is one clear sentence', async () => {
  process.env['PATH'] = '/nowhere';
  await expect(startRedis()).rejects.toThrow(
    new BenchError(
      'BullMQ keeps its jobs in Redis, and there is no redis-server on the PATH of this machine; install Redis first (Debian: redis-server, Homebrew: redis).',
    ),
  );
});
