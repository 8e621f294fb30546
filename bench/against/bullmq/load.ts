/** Publishes messages, and watches them arrive. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { median } from '../../median.ts';
import { cpuMsOf } from './processCpu.ts';
import type { Rival } from './rivals.ts';

export const bodyBytes = 500;
const eventWith = (note: string): string =>
  JSON.stringify({ id: 'evt_01JCM3Z8W2V5T9K4R7Q6X1B0ND', type: 'order.paid', note });
const body = eventWith('n'.repeat(bodyBytes - eventWith('').length));

/** A destination that answers 200 at once. */
export interface Destination {
  /** Each message is sent to a path of its own. */
  readonly url: (message: number) => string;
  /** Resolves with the moment at which the message came for the first time. */
  arrival(message: number): Promise<number>;
  /** Messages that have come, each once. */
  arrived(): number;
  /** Forgets what has come. */
  reset(): void;
  close(): Promise<void>;
}

export async function startDestination(): Promise<Destination> {
  const arrivals = new Map<number, number>();
  const waiting = new Map<number, (at: number) => void>();
  const server = createServer((incoming, response) => {
    const at = performance.now();
    const message = Number(incoming.url?.slice(1));
    incoming.resume().once('end', () => {
      response.writeHead(200).end();
      if (arrivals.has(message)) return;
      arrivals.set(message, at);
      waiting.get(message)?.(at);
      waiting.delete(message);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: (message) => `http://127.0.0.1:${port}/${message}`,
    arrival: (message) => {
      const at = arrivals.get(message);
      return at === undefined ? new Promise((resolve) => waiting.set(message, resolve)) : Promise.resolve(at);
    },
    arrived: () => arrivals.size,
    reset: () => {
      arrivals.clear();
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => {
          closed();
        });
        server.closeAllConnections();
      }),
  };
}

/** @throws Error when it is not accepted */
function publish({ publishUrl, headers }: Rival, agent: Agent, destination: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      publishUrl + destination,
      {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': bodyBytes },
      },
      (answer) => {
        const { statusCode = 0 } = answer;
        answer.resume().once('end', () => {
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new Error(`A message was answered with ${statusCode}.`));
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

export interface Measured {
  readonly messages: number;
  /** From the first request to the last arrival. */
  readonly perSecond: number;
  /** Messages that had been accepted and had not arrived when the last was published, of all. */
  readonly backlog: number;
  /** From the request to the arrival: the median. */
  readonly arrivalMs: number;
  /** For each message; undefined where it cannot be measured. */
  readonly cpuMs: number | undefined;
}

/** A way to publish. */
export interface Load {
  readonly atOnce: number;
  /** Whether the next message of a publisher waits until the one before has arrived; otherwise until it was accepted. */
  readonly waitsForArrival: boolean;
  /** Whether to publish one more message. */
  readonly goesOn: (published: number, sinceMs: number) => boolean;
}

/** Publishes messages, and waits until all have arrived. */
export async function measureLoad(
  rival: Rival,
  destination: Destination,
  { atOnce, waitsForArrival, goesOn }: Load,
): Promise<Measured> {
  destination.reset();
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const cpuBefore = cpuMsOf(rival.pids);
  const start = performance.now();
  const latencies: Promise<number>[] = [];
  const publisher = async (): Promise<void> => {
    while (goesOn(latencies.length, performance.now() - start)) {
      const message = latencies.length;
      const sentAt = performance.now();
      const arriving = destination.arrival(message);
      latencies.push(arriving.then((at) => at - sentAt));
      await publish(rival, agent, destination.url(message));
      if (waitsForArrival) await arriving;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, publisher));
  const messages = latencies.length;
  const backlog = (messages - destination.arrived()) / messages;
  const all = await Promise.all(latencies);
  const tookMs = performance.now() - start;
  const cpuAfter = cpuMsOf(rival.pids);
  agent.destroy();
  return {
    messages,
    perSecond: (1_000 * messages) / tookMs,
    backlog,
    arrivalMs: median(all.length % 2 === 0 ? all.slice(1) : all),
    cpuMs: cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) / messages,
  };
}
