import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it arrived at the receiver. */
export interface Delivery {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Unix milliseconds. */
  readonly at: number;
}

type Answer = (delivery: Delivery, response: ServerResponse, count: number) => void;

/**
 * A real HTTP server that remembers what it is sent. Each test takes a path of its own, so that tests do not see each
 * other's deliveries.
 */
export interface Receiver {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /**
   * A path of its own for one test, with the answers it gives: by default 200 and an empty body.
   *
   * @param answer is told how many deliveries came to this inbox before
   */
  inbox(answer?: Answer): Inbox;
  close(): Promise<void>;
}

export interface Inbox {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Waits until so many deliveries have come, and returns all; fails when they do not come in time. */
  received(count: number, withinMs?: number): Promise<readonly Delivery[]>;
  /** Waits until a condition on what has come holds. */
  until(
    condition: (deliveries: readonly Delivery[]) => boolean,
    withinMs?: number,
  ): Promise<readonly Delivery[]>;
}

interface OpenInbox {
  readonly deliveries: Delivery[];
  readonly answer: Answer;
  readonly watchers: Set<() => void>;
}

const plainAnswer: Answer = (_delivery, response) => response.writeHead(200).end();

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function startReceiver(): Promise<Receiver> {
  const inboxes = new Map<string, OpenInbox>();
  const server = createServer((incoming, response) => {
    void readBody(incoming).then((body) => {
      const target = incoming.url ?? '';
      const inbox = inboxes.get(/^\/([a-z0-9]+)/.exec(target)?.[1] ?? '');
      if (inbox === undefined) {
        response.writeHead(404).end();
        return;
      }
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      const delivery = { method: incoming.method ?? '', target, headers, body, at: Date.now() };
      const before = inbox.deliveries.length;
      inbox.deliveries.push(delivery);
      inbox.answer(delivery, response, before);
      for (const watcher of inbox.watchers) watcher();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let names = 0;

  const until = (
    { deliveries, watchers }: OpenInbox,
    condition: (deliveries: readonly Delivery[]) => boolean,
    withinMs: number,
  ): Promise<readonly Delivery[]> =>
    new Promise((done, failed) => {
      const check = (): void => {
        if (!condition(deliveries)) return;
        clearTimeout(timer);
        watchers.delete(check);
        done([...deliveries]);
      };
      const timer = setTimeout(() => {
        watchers.delete(check);
        failed(new Error(`Only ${deliveries.length} deliveries came within ${withinMs} ms.`));
      }, withinMs);
      watchers.add(check);
      check();
    });

  return {
    origin,
    inbox: (answer = plainAnswer) => {
      const name = `i${(names += 1).toString(36)}x${Math.random().toString(36).slice(2, 8)}`;
      const open: OpenInbox = { deliveries: [], answer, watchers: new Set() };
      inboxes.set(name, open);
      return {
        url: `${origin}/${name}`,
        deliveries: open.deliveries,
        received: (count, withinMs = 20_000) => until(open, (all) => all.length >= count, withinMs),
        until: (condition, withinMs = 20_000) => until(open, condition, withinMs),
      };
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
