/** A client's knowledge: what the service accepted, and what it answered to what else was asked of it. */
export interface AcceptedMessage {
  readonly messageId: string;
  /** Of its destination. */
  readonly number: number;
  readonly hasCallback: boolean;
  readonly hasFailureCallback: boolean;
}

export interface KnownSchedule {
  readonly id: string;
  /** Times of the stage's clock. */
  readonly createdAt: number;
  deletedAt: number | undefined;
  readonly createdIn: number;
}

export class Ledger {
  readonly accepted = new Map<string, AcceptedMessage>();
  /** Messages and runs that were to be cancelled, be it that the answer was lost. */
  readonly cancelAsked = new Set<string>();
  /** Messages whose cancelling was accepted. */
  readonly cancelled = new Set<string>();
  /** Messages whose dead letter was retried, be it that the answer was lost. */
  readonly retried = new Set<string>();
  readonly schedules = new Map<string, KnownSchedule>();
  /**
   * Schedules of which a fire or a run may be half done for ever: those that a client was to delete while a fire was under way, and
   * those that a client was to run and did not learn whether it was done.
   */
  readonly mayLeaveMessages = new Set<string>();
  readonly runs = new Set<string>();
  /** Runs that succeed, however much fails meanwhile: their steps are tried often enough. */
  readonly lastingRuns = new Set<string>();
  /** Requests of the hostile client that were refused. */
  refusedAttacks = 0;
  /** Answers by what was asked and their status; 0 where there was none. */
  readonly statuses = new Map<string, number>();
  /** Answers that a sound request never gets. */
  readonly unexpected: string[] = [];

  accept(message: AcceptedMessage): void {
    this.accepted.set(message.messageId, message);
  }

  count(what: string, status: number): void {
    const key = `${what} ${status}`;
    this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1);
  }
}
