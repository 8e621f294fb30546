import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { close, listen } from '../../local/http.ts';
import { limitForHangsMs } from './limits.ts';

export interface Delivery {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Lower-case names, as often as they were sent. Names such as `__proto__` are only here. */
  readonly headerPairs: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly at: number;
  /** The inbox's open requests when this one arrived, including this one. */
  readonly open: number;
}

type Answer = (delivery: Delivery, response: ServerResponse, count: number) => void;

/**
 * A real HTTP server that records its requests. Each test uses a separate path, so that tests don't see each other's
 * deliveries.
 */
export interface Receiver {
  readonly origin: string;
  /**
   * Opens a path for a test. By default it answers 200 with an empty body.
   *
   * @param answer gets the number of earlier deliveries to this inbox
   */
  inbox(answer?: Answer): Inbox;
  close(): Promise<void>;
}

export interface Inbox {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Waits until this many deliveries have arrived, and returns all; fails on a timeout. */
  received(count: number): Promise<readonly Delivery[]>;
  /** Waits until a condition on the deliveries is true. */
  until(condition: (deliveries: readonly Delivery[]) => boolean): Promise<readonly Delivery[]>;
}

interface OpenInbox {
  readonly deliveries: Delivery[];
  open: number;
  readonly answer: Answer;
  readonly watchers: Set<() => void>;
}

const plainAnswer: Answer = (_delivery, response) => response.writeHead(200).end();

/** Counts a request as open until its answer or its connection ends. Returns how many are open. */
function opened(inbox: OpenInbox, response: ServerResponse): number {
  inbox.open += 1;
  let isOpen = true;
  const ended = (): void => {
    if (isOpen) inbox.open -= 1;
    isOpen = false;
  };
  // The event occurs before the last byte of the answer is sent, so that nothing that follows from the answer counts this
  // request.
  response.once('prefinish', ended);
  response.once('close', ended);
  return inbox.open;
}

/**
 * @param port 0 for any free port
 * @param reached where others reach it, if not at the loopback address
 */
export async function startReceiver(port = 0, reached?: string): Promise<Receiver> {
  const inboxes = new Map<string, OpenInbox>();
  const { server, url: own } = await listen((incoming, response) => {
    const target = incoming.url ?? '';
    const inbox = inboxes.get(/^\/([a-z0-9]+)/.exec(target)?.[1] ?? '');
    if (inbox === undefined) {
      response.writeHead(404).end();
      return;
    }
    const open = opened(inbox, response);
    void buffer(incoming).then((body) => {
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      const headerPairs = incoming.rawHeaders.flatMap((text, at, all) =>
        at % 2 === 0 ? [[text.toLowerCase(), all[at + 1] ?? ''] as const] : [],
      );
      const method = incoming.method ?? '';
      const delivery = { method, target, headers, headerPairs, body, at: Date.now(), open };
      const before = inbox.deliveries.length;
      inbox.deliveries.push(delivery);
      inbox.answer(delivery, response, before);
      for (const watcher of inbox.watchers) watcher();
    });
  }, port);
  const origin = reached ?? own;
  let names = 0;

  const until = (
    { deliveries, watchers }: OpenInbox,
    condition: (deliveries: readonly Delivery[]) => boolean,
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
        failed(new Error(`Only ${deliveries.length} deliveries came within ${limitForHangsMs} ms.`));
      }, limitForHangsMs);
      watchers.add(check);
      check();
    });

  return {
    origin,
    inbox: (answer = plainAnswer) => {
      const name = `i${(names += 1).toString(36)}x${Math.random().toString(36).slice(2, 8)}`;
      const open: OpenInbox = { deliveries: [], open: 0, answer, watchers: new Set() };
      inboxes.set(name, open);
      return {
        url: `${origin}/${name}`,
        deliveries: open.deliveries,
        received: (count) => until(open, (all) => all.length >= count),
        until: (condition) => until(open, condition),
      };
    },
    close: () => close(server),
  };
}
