import type { ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { api, ok } from './api.ts';
import { messageIdOf, publish, service } from './publish.ts';
import type { Delivery } from './receiver.ts';

/** Helpers for tests of lanes: queues, flow-control keys, senders, and deliveries. */

/** The number of messages in large tests. It is smaller on an emulator, which starts many processes. */
export const many = service.target === 'local' ? 50 : 15;

interface Sending {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the service under test's. */
  readonly token?: string;
  readonly url?: string;
}

/** Retries a request after a 503, as a client does: on a slow emulator a lane may be too busy. */
async function unlessBusy<T extends { readonly status: number }>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await request();
    if (answer.status !== 503) return answer;
  }
}

/** Publishes through a queue, and returns the message's id. */
export async function enqueue(queueName: string, destination: string, init: Sending = {}): Promise<string> {
  const { body, token = service.token, url = service.url, headers } = init;
  const response = await unlessBusy(() =>
    fetch(`${url}/v2/enqueue/${queueName}/${destination}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  );
  return messageIdOf({ status: response.status, headers: response.headers, json: await response.json() });
}

export const send = async (destination: string, init: Sending = {}): Promise<string> =>
  messageIdOf(await publish(destination, { ...init, headers: { ...init.headers } }));

export async function putQueue(
  queueName: string,
  settings: { readonly parallelism?: number; readonly paused?: boolean },
  { token = service.token, url = service.url }: Pick<Sending, 'token' | 'url'> = {},
): Promise<void> {
  await ok(unlessBusy(() => api('POST', '/v2/queues', { body: { queueName, ...settings }, token, url })));
}

const queueShape = z.looseObject({ lag: z.number() });

/** The number of unfinished messages in a queue. */
export const lagOf = async (queueName: string, token = service.token, url = service.url): Promise<number> =>
  queueShape.parse(await ok(api('GET', `/v2/queues/${queueName}`, { token, url }))).lag;

/** The headers that put a message under a flow-control key. */
export const underKey = (key: string, value: string): Record<string, string> => ({
  'Svc-Flow-Control-Key': key,
  'Svc-Flow-Control-Value': value,
});

/** Sends numbered messages, from 0, from several senders. Each sends its next message when the previous one was accepted. */
export async function sendFrom(
  senders: number,
  count: number,
  one: (number: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      for (let number = sender; number < count; number += senders) await one(number);
    }),
  );
}

export const numberOf = (delivery: Delivery): number => Number(delivery.body.toString());
export const numbersOf = (deliveries: readonly Delivery[]): readonly number[] => deliveries.map(numberOf);
/** 0 for the first delivery. */
export const retriedOf = (delivery: Delivery): number => Number(delivery.headers['svc-retried']);
export const upTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, number) => number);

export const mostOpen = (deliveries: readonly Delivery[]): number =>
  Math.max(0, ...deliveries.map(({ open }) => open));

/** Answers after 20 to 100 ms. */
export const answerSlowly = (_delivery: Delivery, response: ServerResponse, before: number): void => {
  setTimeout(() => response.writeHead(200).end(), 20 + ((before * 37) % 80));
};

/**
 * Holds the first requests until this many have arrived, and is slow from then on. If fewer are in flight at
 * once, it never answers.
 */
export function answerTogether(count: number) {
  const held: ServerResponse[] = [];
  return (delivery: Delivery, response: ServerResponse, before: number): void => {
    if (before >= count) {
      answerSlowly(delivery, response, before);
      return;
    }
    held.push(response);
    if (held.length === count) for (const one of held) one.writeHead(200).end();
  };
}

/** Makes answers that wait until the gate opens. */
export function startGate() {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const give = (response: ServerResponse): void => {
    response.writeHead(200).end();
  };
  return {
    answer: (_delivery: Delivery, response: ServerResponse): void => {
      if (isOpen) give(response);
      else held.push(response);
    },
    open: (): void => {
      isOpen = true;
      for (const response of held.splice(0)) give(response);
    },
  };
}
