/** Holds calls of the database back for a moment, in which it writes nothing to its files. */
import { pending } from '../pending.ts';
import type { Call, Answer, Send } from './connection.ts';

/** Waits for the calls under way, and holds back all others until the returned function is called. One hold comes after the other. */
export type Hold = () => Promise<() => void>;

export class Holdable {
  readonly #send: Send;
  readonly #underWay = new Set<Promise<Answer>>();
  #held: Promise<void> | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  readonly send: Send = async (call: Call) => {
    // Nothing may come between the last look and the call.
    while (this.#held !== undefined) await this.#held;
    const answer = this.#send(call);
    this.#underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.#underWay.delete(answer);
    }
  };

  readonly hold: Hold = async () => {
    while (this.#held !== undefined) await this.#held;
    const { promise, resolve } = pending();
    this.#held = promise;
    await Promise.allSettled(this.#underWay);
    return () => {
      this.#held = undefined;
      resolve();
    };
  };
}
