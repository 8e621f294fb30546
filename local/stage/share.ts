import type { Socket } from 'node:net';
import type { Fire } from '../scheduler/storedSchedules.ts';
import type { ParkedJobs } from '../sqs/redrive.ts';
import type { Owner } from '../sqs/storedMessages.ts';

export type FrontName = 'api' | 'publish';

export interface Share {
  /** Whose messages the queues' new ones are. */
  readonly owner: Owner;
  /** Processes that have ended, whose messages it takes over; undefined for all. */
  readonly adopts: readonly Owner[] | undefined;
  /** Whether no other process of the stage has started before it. It then does what one process does for all. */
  readonly isFirst: boolean;
  /** The ports at which another process accepts connections for it; undefined if none does. */
  readonly ports?: { readonly api: number; readonly publish?: number | undefined };
  readonly peers?: readonly string[];
  /** Called early in the start with a function that takes connections which another process has accepted. */
  readonly onFronts?: (take: (front: FrontName, socket: Socket) => void) => void;
  /** Tells a fire to the leading process, if that is another. */
  readonly tell?: (fire: Fire) => void;
  /** Sends back the parked jobs of all processes. */
  readonly redriveAll?: () => Promise<ParkedJobs>;
}

/** The share of a stage's only process. */
export const wholeShare: Share = { owner: 0, adopts: undefined, isFirst: true };
