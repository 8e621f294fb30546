import { randomSecret } from './dataDirectory.ts';
import type { Fire } from '../scheduler/storedSchedules.ts';
import type { ParkedJobs } from '../sqs/redrive.ts';
import type { Owner } from '../sqs/storedMessages.ts';

/** The share of a process in the work of a stage. */
export interface Share {
  /** Whose messages the queues' new ones are. */
  readonly owner: Owner;
  /** Processes that have ended, whose messages it takes over; undefined for all. */
  readonly adopts: readonly Owner[] | undefined;
  /** Whether no other process of the stage has started before it. */
  readonly isFirst: boolean;
  /** Whether it does what one process does for all. */
  readonly leads: boolean;
  readonly controlPassword: string;
  /** Tells the leading process of a fire, if that is another. */
  readonly tell?: (fire: Fire) => void;
  /** Sends back the parked jobs of all processes. */
  readonly redriveAll?: () => Promise<ParkedJobs>;
}

/** Of a stage with one process. */
export const wholeShare = (): Share => ({
  owner: 0,
  adopts: undefined,
  isFirst: true,
  leads: true,
  controlPassword: randomSecret(),
});
