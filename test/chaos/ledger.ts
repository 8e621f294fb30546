/** The clients' knowledge: what the service accepted, and its answers. */
export interface AcceptedMessage {
  readonly messageId: string;
  /** The number of its destination. */
  readonly number: number;
  readonly hasCallback: boolean;
  readonly hasFailureCallback: boolean;
}

export interface KnownSchedule {
  readonly id: string;
  /** In the stage's clock. */
  readonly createdAt: number;
  deletedAt: number | undefined;
  readonly createdIn: number;
}

export class Ledger {
  readonly accepted = new Map<string, AcceptedMessage>();
  /** Messages and runs that a client tried to cancel, even if the answer was lost, or whose queue clients delete. */
  readonly cancelAsked = new Set<string>();
  /** Messages whose cancellation was accepted. */
  readonly cancelled = new Set<string>();
  /** Messages whose dead letter a client retried, even if the answer was lost. */
  readonly retried = new Set<string>();
  readonly schedules = new Map<string, KnownSchedule>();
  /**
   * Schedules with a fire or a run that may stay half done: a client deleted them during a fire, or ran them without getting an
   * answer.
   */
  readonly mayLeaveMessages = new Set<string>();
  readonly runs = new Set<string>();
  /** Runs that must succeed despite all faults, because their steps have enough retries. */
  readonly lastingRuns = new Set<string>();
  refusedAttacks = 0;
  /** Answers by request and status; 0 if there was none. */
  readonly statuses = new Map<string, number>();
  /** Answers that normal requests must not get. */
  readonly unexpected: string[] = [];

  accept(message: AcceptedMessage): void {
    this.accepted.set(message.messageId, message);
  }

  count(what: string, status: number): void {
    const key = `${what} ${status}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
  }
}
