/** A service that accepts messages over HTTP and delivers them to one destination. */
import type { Closable } from './together.ts';

/** A POST to this URL publishes a message. */
export interface Door {
  readonly publishUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Contender extends Closable {
  readonly name: string;
  /** Publishers are spread evenly over these URLs. */
  readonly doors: readonly [Door, ...Door[]];
  /** Makes the body of a request for an event, which is JSON. */
  readonly bodyOf: (event: string) => string;
  /** The ids of the contender's processes. Their descendants also count. */
  readonly pids: readonly number[];
}

/**
 * Starts a contender that delivers to a destination.
 *
 * @throws BenchError if this machine cannot run it
 */
export type Start = (destination: string) => Promise<Contender>;
