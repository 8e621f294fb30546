/** Attempts that are due, as their lanes need to know them. */
import type { AdmittedTo } from '../../job/job.ts';
import { minuteMs } from '../../shared/clock.ts';
import type { Turn } from '../../value/turn.ts';
import type { Limits } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import type { CircuitOf } from './circuits.ts';

/** The flow control of a message. */
interface KeyLimits extends Limits {
  readonly key: string;
  /** When the message was made, Unix milliseconds. */
  readonly madeAt: number;
}

/** An attempt that is due, with all that its lanes need to know of it. */
export interface DueAttempt extends Entry {
  readonly accountId: string;
  /** The queue that its message was enqueued to, if any. */
  readonly queueName: string | undefined;
  readonly flowControl: KeyLimits | undefined;
  readonly turn?: Turn | undefined;
  /** The circuit of its host; undefined where none holds it back. */
  readonly circuit: CircuitOf | undefined;
  /** The limits of its account, as this process knows them. */
  readonly accountLimits: Limits & { readonly version: number };
  readonly timeoutMs: number;
  /** When its message was published, Unix milliseconds. */
  readonly createdAt: number;
  /** When its message was due first, Unix milliseconds. */
  readonly notBefore: number;
  readonly admittedTo: AdmittedTo | undefined;
  /** Whether its job has been handed out before: the attempt may be under way, or in a line. */
  readonly isAgain: boolean;
}

/** A grant that is not in the table this long after its job was sent was never written: its process died. */
export const youngMs = minuteMs;

/** Tells whether an attempt has a slot of its queue: its message keeps the slot until it is over. */
export const hasEnteredQueue = ({
  attempt,
  admittedTo,
}: {
  readonly attempt: number;
  readonly admittedTo?: AdmittedTo | undefined;
}): boolean => attempt > 0 || (admittedTo !== undefined && admittedTo.lane !== 'queue');

/** Tells whether an attempt comes from the line of its key or its account, and has a slot there. */
export const hasLaterSlots = ({ admittedTo }: DueAttempt): boolean =>
  admittedTo?.lane === 'key' || admittedTo?.lane === 'account';
