import { performance } from 'node:perf_hooks';
import type { Closable } from './together.ts';
import { startWireServer } from './wire.ts';

export const bodyBytes = 500;
const numberDigits = 12;
const eventWith = (number: string, note: string): string =>
  JSON.stringify({ id: `evt_${number}`, type: 'order.paid', note });
const note = 'n'.repeat(bodyBytes - eventWith('0'.repeat(numberDigits), '').length);
/** Finds the number of a message, however a service formats its JSON. */
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
  const server = await startWireServer((body) => {
    const message = Number(numberIn.exec(body)?.[1]);
    waiting.get(message)?.(performance.now());
    waiting.delete(message);
  });
  return {
    ...server,
    expect: () => {
      messages += 1;
      const number = messages;
      return {
        event: eventWith(String(number).padStart(numberDigits, '0'), note),
        arrival: new Promise((resolve) => waiting.set(number, resolve)),
      };
    },
  };
}
