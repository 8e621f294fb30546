import { performance } from 'node:perf_hooks';
import { close, listen } from '../../local/http.ts';
import type { Closable } from './together.ts';

export const bodyBytes = 500;
const numberDigits = 12;
const eventWith = (number: string, note: string): string =>
  JSON.stringify({ id: `evt_${number}`, type: 'order.paid', note });
const note = 'n'.repeat(bodyBytes - eventWith('0'.repeat(numberDigits), '').length);
/** Finds the number however a service formats the JSON. */
const numberIn = /"evt_(\d+)"/;

interface Expected {
  /** JSON of {@link bodyBytes}. */
  readonly event: string;
  /** Resolves with the time of the first arrival. */
  readonly arrival: Promise<number>;
}

export interface Destination extends Closable {
  readonly url: string;
  /** Each message has a unique number, so that duplicates and late arrivals are recognized. */
  expect(): Expected;
}

export async function startDestination(): Promise<Destination> {
  const waiting = new Map<number, (at: number) => void>();
  let messages = 0;
  const { server, port } = await listen((incoming, response) => {
    const at = performance.now();
    let body = '';
    incoming
      .setEncoding('latin1')
      .on('data', (chunk: string) => (body += chunk))
      .once('end', () => {
        response.writeHead(200).end();
        const message = Number(numberIn.exec(body)?.[1]);
        waiting.get(message)?.(at);
        waiting.delete(message);
      });
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    expect: () => {
      messages += 1;
      const number = messages;
      return {
        event: eventWith(String(number).padStart(numberDigits, '0'), note),
        arrival: new Promise((resolve) => waiting.set(number, resolve)),
      };
    },
    close: () => close(server),
  };
}
