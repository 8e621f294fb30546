/** A contender of the measurement: a service that takes messages over HTTP and delivers them to one destination. */
import type { Closable } from './servers/together.ts';

/** The services that `--against` can name, besides a commit. */
export const rivalNames = ['bullmq', 'outpost'] as const;
export type RivalName = (typeof rivalNames)[number];
export const isRivalName = (name: string): name is RivalName => rivalNames.some((rival) => rival === name);

export interface Contender extends Closable {
  /** With the versions of what it runs on. */
  readonly name: string;
  /** A POST to this URL publishes a message. */
  readonly publishUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the request that publishes an event, which is JSON. */
  readonly bodyOf: (event: string) => string;
  /** The ids of the processes of this side. The processes that they have started count for it, too. */
  readonly pids: readonly number[];
}

/**
 * Starts a contender that delivers to a destination.
 *
 * @throws BenchError when this machine cannot run it
 */
export type Start = (destination: string) => Promise<Contender>;
