/**
 * One-time and recurring schedules, exact to the millisecond.
 *
 * The states of a schedule, in order:
 * - pending: waits until `dueAt`;
 * - firing: its target is invoked, and again every second while that fails;
 * - pending again if it recurs; otherwise done, or deleted if `ActionAfterCompletion` says so.
 *
 * A one-time schedule that was due while the stage was down fires at the next start. A recurring one continues with its next
 * time. A fire and its record are one transaction.
 */
import { AwsError } from '../aws/awsError.ts';
import { Heap, type Placed } from '../heap.ts';
import type { Store } from '../store/store.ts';
import { ExpressionError } from './cron.ts';
import type { ScheduleSettings } from './settings.ts';
import {
  keyOf,
  scheduleKey,
  storedSchedules,
  toBytes,
  type ScheduleId,
  type StoredSchedule,
} from './storedSchedules.ts';
import { parseTiming, type Timing } from './timing.ts';

export interface Invocation {
  readonly schedule: StoredSchedule;
  /** The schedule's time, in epoch milliseconds. */
  readonly scheduledAt: number;
  readonly attempt: number;
}

interface SchedulesOptions {
  /** The deployment's groups. The group `default` always exists. */
  readonly groups: readonly string[];
  readonly store: Store;
  /** Epoch milliseconds. Call `wake` after a jump. */
  readonly now: () => number;
  /** Invokes the target in the same turn of the event loop. It is retried if this throws. */
  readonly invoke: (invocation: Invocation) => void;
  /** Called with errors of `invoke` and of the store. */
  readonly report: (error: unknown) => void;
}

interface Pending extends Placed {
  readonly schedule: StoredSchedule;
  readonly timing: Timing;
  scheduledAt: number;
  /** The scheduled time, or the time of the next try. */
  dueAt: number;
  failures: number;
}

/** A recurring schedule that is later than this skips the time, because Scheduler fires within a minute. */
const graceMs = 60_000;
/** The pause before a retry. Only the stage's own disk can fail here, so no retry policy applies. */
const retryAfterMs = 1_000;
/** The longest delay of Node's timers. */
const longestTimerMs = 2 ** 31 - 1;

export class Schedules {
  readonly #groups: ReadonlySet<string>;
  readonly #kept = new Map<string, StoredSchedule>();
  readonly #store: Store;
  readonly #now: () => number;
  readonly #invoke: SchedulesOptions['invoke'];
  readonly #report: SchedulesOptions['report'];
  readonly #pending = new Map<string, Pending>();
  readonly #byDueTime = new Heap<Pending>((a, b) => a.dueAt < b.dueAt);
  readonly #firing = new Set<Promise<void>>();
  #alarm: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ groups, store, now, invoke, report }: SchedulesOptions) {
    this.#groups = new Set(['default', ...groups]);
    this.#store = store;
    this.#now = now;
    this.#invoke = invoke;
    this.#report = report;
    for (const schedule of storedSchedules(store)) {
      this.#kept.set(keyOf(schedule), schedule);
      this.#plan(schedule, timingOf(schedule.settings));
    }
    this.#serve();
  }

  /**
   * Creates a schedule in the transaction of this turn of the event loop. Resolves when it is on the disk.
   *
   * @param clientToken a repeated call with the same token succeeds without a change
   * @throws AwsError
   */
  async create(id: ScheduleId, settings: ScheduleSettings, clientToken?: string): Promise<void> {
    this.#checkGroup(id.group);
    const existing = this.#kept.get(keyOf(id));
    if (existing !== undefined) {
      if (clientToken !== undefined && existing.clientToken === clientToken) return this.#store.committed();
      throw new AwsError('ConflictException', `Schedule ${id.name} already exists.`, 409);
    }
    const createdAt = this.#now();
    const timing = checkedTiming(settings, createdAt);
    const schedule = { ...id, settings, createdAt, clientToken, isDone: false };
    this.#kept.set(keyOf(id), schedule);
    this.#store.write(scheduleKey(id), toBytes(schedule));
    try {
      await this.#store.committed();
    } catch (error) {
      if (this.#kept.get(keyOf(id)) === schedule) this.#kept.delete(keyOf(id));
      throw error;
    }
    // It may have been deleted while it was written.
    if (this.#kept.get(keyOf(id)) !== schedule) return;
    this.#plan(schedule, timing);
    this.#serve();
  }

  /** @throws AwsError */
  get(id: ScheduleId): StoredSchedule {
    this.#checkGroup(id.group);
    const schedule = this.#kept.get(keyOf(id));
    if (schedule !== undefined) return schedule;
    throw new AwsError('ResourceNotFoundException', `Schedule ${id.name} does not exist.`, 404);
  }

  /** @throws AwsError */
  async delete(id: ScheduleId): Promise<void> {
    const schedule = this.get(id);
    this.#store.write(scheduleKey(id), undefined);
    await this.#store.committed();
    if (this.#kept.get(keyOf(id)) === schedule) this.#forget(id);
    this.#serve();
  }

  /**
   * All schedules or a group's, by key.
   *
   * @throws AwsError
   */
  list(group?: string): StoredSchedule[] {
    if (group !== undefined) this.#checkGroup(group);
    const found = [...this.#kept.values()].filter((schedule) => (group ?? schedule.group) === schedule.group);
    return found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** When the next schedule is due, in epoch milliseconds. */
  get nextDue(): number | undefined {
    return this.#byDueTime.first?.dueAt;
  }

  /** Reads the clock again after it has jumped. */
  wake(): void {
    const now = this.#now();
    for (const pending of [...this.#byDueTime]) {
      const next = pending.timing.kind === 'recurring' ? pending.timing.next(now) : undefined;
      // The clock has stepped back.
      if (next !== undefined && next < pending.scheduledAt) this.#goOn(pending, next);
    }
    this.#serve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#firing);
    clearTimeout(this.#alarm);
  }

  #checkGroup(name: string): void {
    if (this.#groups.has(name)) return;
    throw new AwsError('ResourceNotFoundException', `Schedule group ${name} does not exist.`, 404);
  }

  /** Makes a schedule pending until its next time, which may be past. */
  #plan(schedule: StoredSchedule, timing: Timing): void {
    if (schedule.isDone) return;
    const at = timing.kind === 'once' ? timing.at : timing.next(this.#now());
    if (at === undefined) return;
    const pending: Pending = { schedule, timing, scheduledAt: at, dueAt: at, failures: 0, place: -1 };
    this.#pending.set(keyOf(schedule), pending);
    this.#byDueTime.add(pending);
  }

  #cancel(id: ScheduleId): void {
    const pending = this.#pending.get(keyOf(id));
    if (pending === undefined) return;
    // A firing schedule is not in the heap.
    if (pending.place >= 0) this.#byDueTime.remove(pending);
    this.#pending.delete(keyOf(id));
  }

  #forget(id: ScheduleId): void {
    this.#cancel(id);
    this.#kept.delete(keyOf(id));
  }

  /** Fires all due schedules in order, and sets the alarm for the next. */
  #serve(): void {
    clearTimeout(this.#alarm);
    if (this.#isClosed) return;
    for (let next = this.#byDueTime.first; next !== undefined; next = this.#byDueTime.first) {
      const now = this.#now();
      if (next.dueAt > now) {
        const serve = (): void => {
          this.#serve();
        };
        this.#alarm = setTimeout(serve, Math.min(next.dueAt - now, longestTimerMs));
        return;
      }
      this.#begin(next, now);
    }
  }

  /** Fires a schedule. It is not in the heap in that time. */
  #begin(pending: Pending, now: number): void {
    const { scheduledAt, timing, failures } = pending;
    if (timing.kind === 'recurring' && failures === 0 && now - scheduledAt > graceMs) {
      this.#goOn(pending, timing.next(now));
      return;
    }
    this.#byDueTime.remove(pending);
    const firing = this.#fire(pending).finally(() => {
      this.#firing.delete(firing);
      this.#serve();
    });
    this.#firing.add(firing);
  }

  async #fire(pending: Pending): Promise<void> {
    const { schedule, scheduledAt, timing, failures } = pending;
    const next = timing.kind === 'once' ? undefined : timing.next(scheduledAt);
    const isDeleted = schedule.settings.ActionAfterCompletion === 'DELETE';
    const isPending = (): boolean => this.#pending.get(keyOf(schedule)) === pending;
    try {
      this.#invoke({ schedule, scheduledAt, attempt: failures + 1 });
      const done = isDeleted ? undefined : toBytes({ ...schedule, isDone: true });
      if (next === undefined) this.#store.write(scheduleKey(schedule), done);
      await this.#store.committed();
      if (!isPending()) return;
      this.#byDueTime.add(pending);
      this.#goOn(pending, next);
      if (next !== undefined) return;
      schedule.isDone = true;
      if (isDeleted) this.#forget(schedule);
    } catch (error) {
      this.#report(error);
      if (!isPending()) return;
      pending.failures += 1;
      pending.dueAt = this.#now() + retryAfterMs;
      this.#byDueTime.add(pending);
    }
  }

  /** @param next undefined if the schedule does not fire again */
  #goOn(pending: Pending, next: number | undefined): void {
    if (next === undefined) {
      this.#cancel(pending.schedule);
      return;
    }
    pending.scheduledAt = next;
    pending.dueAt = next;
    pending.failures = 0;
    this.#byDueTime.reorder(pending);
  }
}

function timingOf({ ScheduleExpression, ScheduleExpressionTimezone }: ScheduleSettings): Timing {
  return parseTiming(ScheduleExpression, ScheduleExpressionTimezone);
}

/** @throws AwsError if Scheduler would refuse the expression */
function checkedTiming(settings: ScheduleSettings, now: number): Timing {
  const refusal = (reason: string): AwsError =>
    new AwsError(
      'ValidationException',
      `Invalid Schedule Expression ${settings.ScheduleExpression}: ${reason}.`,
    );
  try {
    const timing = timingOf(settings);
    // Not documented by AWS, but users report that times in the past are refused.
    if (timing.kind === 'once' && timing.at < now) throw refusal('it is in the past');
    return timing;
  } catch (error) {
    if (error instanceof ExpressionError) throw refusal(error.message);
    throw error;
  }
}
