/** Lets tests control the stages in their process: the clock, and when expired data is deleted. */
import type { Queues } from '../sqs/queues.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** The parts of a stage that tests control. */
export interface Controlled {
  readonly queues: Pick<Queues, 'nextDueIn' | 'unsettled' | 'wake'>;
  readonly scheduler: Pick<Scheduler, 'nextDue' | 'wake'>;
  readonly fedQueues: readonly string[];
  /** Deletes expired data, and returns the number of deleted rows. */
  readonly expireNow: () => Promise<number>;
  /** Waits until all writes are on the disk, so that jobs can be received. */
  readonly written: () => Promise<void>;
  readonly report: (error: unknown) => void;
}

export interface TestControl {
  readonly url: string;
  /** Gets the ids of messages that an invocation did not finish. The clock does not wait for them. */
  readonly leave: (messageIds: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

type StartControl = (controlled: Controlled) => Promise<TestControl>;

let start: StartControl | undefined;

/** Gives tests control over all stages that this process starts later. */
export function controlStages(by: StartControl): void {
  start = by;
}

export const startTestControl = (controlled: Controlled): Promise<TestControl> | undefined =>
  start?.(controlled);
