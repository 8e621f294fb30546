import type { AdmittedTo } from '../../job/job.ts';
import { minuteMs } from '../../shared/clock.ts';
import type { Turn } from '../../value/turn.ts';
import { rulesOf } from '../../circuit/settings.ts';
import { circuitLane, holdLane, type LaneKey, type Limits } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import type { CircuitOf } from './circuitView.ts';

interface KeyLimits extends Limits {
  readonly key: string;
  /** When the message was created. */
  readonly madeAt: number;
}

export interface DueAttempt extends Entry {
  readonly accountId: string;
  readonly queueName: string | undefined;
  readonly flowControl: KeyLimits | undefined;
  readonly turn?: Turn | undefined;
  /** The names of the holds that may hold the attempt back. */
  readonly holds?: readonly string[];
  readonly circuit: CircuitOf | undefined;
  /** The limits of the account, as this process knows them. */
  readonly accountLimits: Limits & { readonly version: number };
  readonly timeoutMs: number;
  readonly createdAt: number;
  /** When its message was first due. */
  readonly notBefore: number;
  readonly admittedTo: AdmittedTo | undefined;
  /** Whether the job was delivered before: the attempt may be in flight or in a line. */
  readonly isAgain: boolean;
}

/**
 * A grant that is not in the table this long after its job was sent is never written: its process has died.
 */
export const youngMs = minuteMs;

/** Whether the message already has its slot of the queue. */
export const hasEnteredQueue = ({
  attempt,
  admittedTo,
}: {
  readonly attempt: number;
  readonly admittedTo?: AdmittedTo | undefined;
}): boolean => attempt > 0 || (admittedTo !== undefined && admittedTo.lane !== 'queue');

/** Whether the attempt comes from the line of its key or account, with a slot there. */
export const hasLaterSlots = ({ admittedTo }: DueAttempt): boolean =>
  admittedTo?.lane === 'key' || admittedTo?.lane === 'account';

export const isGrantedBy = ({ kind, name }: LaneKey, admittedTo: AdmittedTo | undefined): boolean =>
  admittedTo?.lane === kind && admittedTo.name === name;

/** The lanes of the attempt's holds and of its host's circuit, in the order in which it enters them. */
export const holdingLanesOf = ({
  accountId,
  holds = [],
  circuit,
}: DueAttempt): readonly (readonly [LaneKey, Omit<CircuitOf, 'host'>])[] => [
  ...holds.map((name) => [holdLane(accountId, name), { rules: rulesOf(undefined), dueAt: 0 }] as const),
  ...(circuit ? [[circuitLane(accountId, circuit.host), circuit] as const] : []),
];
