/** A service that accepts messages over HTTP and delivers them to one destination. */
import type { Closable } from './together.ts';

/** A POST to this URL publishes a message. */
export interface Door {
  readonly publishUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Contender extends Closable {
  readonly name: string;
  /** Publishers use them in equal shares. */
  readonly doors: readonly [Door, ...Door[]];
  /** The request's body for an event, which is JSON. */
  readonly bodyOf: (event: string) => string;
  /** The ids of its processes. Their descendants count too. */
  readonly pids: readonly number[];
}

/**
 * Starts a contender that delivers to a destination.
 *
 * @throws BenchError if this machine cannot run it
 */
export type Start = (destination: string) => Promise<Contender>;
