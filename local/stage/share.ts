import type { Socket } from 'node:net';
import type { Fire } from '../scheduler/storedSchedules.ts';
import type { ParkedJobs } from '../sqs/redrive.ts';
import type { Owner } from '../sqs/storedMessages.ts';

export type FrontName = 'api' | 'publish';

export interface Share {
  /** The process to which new messages belong. */
  readonly owner: Owner;
  /** Ended processes whose messages this one takes over; undefined for all. */
  readonly adopts: readonly Owner[] | undefined;
  /** Whether this is the first process of the stage. Then it does the work that one process does for all. */
  readonly isFirst: boolean;
  /** The ports at which another process accepts connections for this one, if it does. */
  readonly ports?: { readonly api: number; readonly publish?: number | undefined };
  readonly peers?: readonly string[];
  /** Gets a function that takes connections from another process, early in the start. */
  readonly onFronts?: (take: (front: FrontName, socket: Socket) => void) => void;
  /** Reports a fire to the leading process, if that is another one. */
  readonly tell?: (fire: Fire) => void;
  /** Sends back the parked jobs of all processes. */
  readonly redriveAll?: () => Promise<ParkedJobs>;
}

/** The share of the work if there is only one process: all of it. */
export const wholeShare: Share = { owner: 0, adopts: undefined, isFirst: true };
