/**
 * The schedules themselves: one-time and recurring, exact to the millisecond where AWS promises the minute.
 *
 * The states of a schedule, in the order in which it passes them:
 * - pending: waits for its next time, `dueAt`;
 * - firing: its target is invoked, and again after a second for as long as that fails;
 * - pending again, when it recurs; otherwise done, or deleted when `ActionAfterCompletion` says so.
 *
 * A one-time schedule that was due while the stage was down fires when it is up again; a recurring one goes on with its next
 * time. A fire comes before its record, so that a kill between the two repeats it.
 */
import { AwsError } from '../aws/awsError.ts';
import { Heap, type Placed } from '../heap.ts';
import type { AppendOnly } from '../journal/appendOnly.ts';
import { ExpressionError } from './cron.ts';
import {
  keyOf,
  type ScheduleId,
  type SchedulerEntry,
  type SchedulerJournal,
  type StoredSchedule,
} from './schedulerJournal.ts';
import type { ScheduleSettings } from './settings.ts';
import { parseTiming, type Timing } from './timing.ts';

/** One attempt to invoke a schedule's target. */
export interface Invocation {
  readonly schedule: StoredSchedule;
  /** The time that the schedule names, in epoch milliseconds. */
  readonly scheduledAt: number;
  /** Counts from 1. */
  readonly attempt: number;
}

export interface SchedulesOptions {
  /** The groups that the deployment creates on AWS. The group `default` always exists. */
  readonly groups: readonly string[];
  readonly journal: SchedulerJournal;
  /** Epoch milliseconds; call `wake` after it has jumped. */
  readonly now: () => number;
  /** Invokes the target. The attempt is repeated when this throws. */
  readonly invoke: (invocation: Invocation) => void;
  /** Waits until what the targets were given is on the disk. */
  readonly invoked: () => Promise<void>;
  /** Called with the errors of `invoke`. */
  readonly report: (error: unknown) => void;
}

/** A schedule that will fire. */
interface Pending extends Placed {
  readonly schedule: StoredSchedule;
  readonly timing: Timing;
  scheduledAt: number;
  /** The scheduled time, or later when the attempt is repeated. */
  dueAt: number;
  failures: number;
}

/** A recurring schedule that is later than this skips its time: Scheduler fires within the minute. */
const graceMs = 60_000;
/** The pause before a repetition. An attempt fails here only when the stage's own disk does, so no retry policy ends it. */
const retryAfterMs = 1_000;
/** The longest delay of Node's timers. */
const longestTimerMs = 2 ** 31 - 1;

export class Schedules {
  readonly #groups: ReadonlySet<string>;
  readonly #kept: Map<string, StoredSchedule>;
  readonly #journal: AppendOnly<SchedulerEntry>;
  readonly #now: () => number;
  readonly #invoke: SchedulesOptions['invoke'];
  readonly #invoked: SchedulesOptions['invoked'];
  readonly #report: SchedulesOptions['report'];
  readonly #pending = new Map<string, Pending>();
  readonly #byDueTime = new Heap<Pending>((a, b) => a.dueAt < b.dueAt);
  /** One-time schedules that have fired, with the record of it, which waits until the fire is on the disk. */
  readonly #unrecorded = new Map<StoredSchedule, Promise<void>>();
  #alarm: NodeJS.Timeout | undefined;

  constructor({ groups, journal, now, invoke, invoked, report }: SchedulesOptions) {
    this.#groups = new Set(['default', ...groups]);
    this.#kept = journal.kept;
    this.#journal = journal.file;
    this.#now = now;
    this.#invoke = invoke;
    this.#invoked = invoked;
    this.#journal.keepShort({ count: () => this.#kept.size, entries: () => this.#snapshot() });
    this.#report = report;
    for (const schedule of this.#kept.values()) this.#plan(schedule, timingOf(schedule.settings));
    this.#serve();
  }

  /**
   * @param clientToken a repetition with the same token succeeds, and changes nothing
   * @throws AwsError
   */
  create(id: ScheduleId, settings: ScheduleSettings, clientToken?: string): void {
    this.#checkGroup(id.group);
    const existing = this.#kept.get(keyOf(id));
    if (existing !== undefined) {
      if (clientToken !== undefined && existing.clientToken === clientToken) return;
      throw new AwsError('ConflictException', `Schedule ${id.name} already exists.`, 409);
    }
    const createdAt = this.#now();
    const timing = checkedTiming(settings, createdAt);
    const schedule = { ...id, settings, createdAt, clientToken, isDone: false };
    this.#journal.append([{ op: 'keep', schedule }]);
    this.#kept.set(keyOf(id), schedule);
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
  delete(id: ScheduleId): void {
    this.get(id);
    const { group, name } = id;
    this.#journal.append([{ op: 'delete', id: { group, name } }]);
    this.#forget(id);
    this.#serve();
  }

  /**
   * All schedules, or those of a group, in the order of their keys.
   *
   * @throws AwsError
   */
  list(group?: string): StoredSchedule[] {
    if (group !== undefined) this.#checkGroup(group);
    const found = [...this.#kept.values()].filter((schedule) => (group ?? schedule.group) === schedule.group);
    return found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** The time at which a schedule fires next, in epoch milliseconds. */
  get nextDue(): number | undefined {
    return this.#byDueTime.first?.dueAt;
  }

  /** Reads the clock again, after it has jumped. */
  wake(): void {
    this.#serve();
  }

  /** Waits until all schedules are on the disk. */
  flushed(): Promise<void> {
    return this.#journal.flushed();
  }

  async close(): Promise<void> {
    clearTimeout(this.#alarm);
    await Promise.all(this.#unrecorded.values());
    this.#journal.close();
  }

  #checkGroup(name: string): void {
    if (this.#groups.has(name)) return;
    throw new AwsError('ResourceNotFoundException', `Schedule group ${name} does not exist.`, 404);
  }

  /** Makes a schedule pending until its time, which may be past; until its next time when it recurs. */
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
    this.#byDueTime.remove(pending);
    this.#pending.delete(keyOf(id));
  }

  /** A schedule whose fire may not be on the disk has not fired in it, and one of the same name that was made since comes after it. */
  *#snapshot(): Generator<SchedulerEntry> {
    for (const schedule of this.#unrecorded.keys())
      yield { op: 'keep', schedule: { ...schedule, isDone: false } };
    for (const schedule of this.#kept.values())
      if (!this.#unrecorded.has(schedule)) yield { op: 'keep', schedule };
  }

  #forget(id: ScheduleId): void {
    this.#cancel(id);
    this.#kept.delete(keyOf(id));
  }

  /** Fires all schedules that are due, in the order of their times, and sets the alarm for the others. */
  #serve(): void {
    clearTimeout(this.#alarm);
    for (let next = this.#byDueTime.first; next !== undefined; next = this.#byDueTime.first) {
      const now = this.#now();
      if (next.dueAt > now) {
        const serve = (): void => {
          this.#serve();
        };
        this.#alarm = setTimeout(serve, Math.min(next.dueAt - now, longestTimerMs));
        return;
      }
      this.#fire(next, now);
    }
  }

  #fire(pending: Pending, now: number): void {
    const { schedule, scheduledAt, timing, failures } = pending;
    if (timing.kind === 'recurring' && failures === 0 && now - scheduledAt > graceMs) {
      // The machine has slept.
      this.#goOn(pending, timing.next(now));
      return;
    }
    try {
      this.#invoke({ schedule, scheduledAt, attempt: failures + 1 });
      this.#complete(pending);
    } catch (error) {
      this.#report(error);
      pending.failures += 1;
      pending.dueAt = now + retryAfterMs;
      this.#byDueTime.reorder(pending);
    }
  }

  /** Records a fire. */
  #complete(pending: Pending): void {
    const { schedule, timing, scheduledAt } = pending;
    const next = timing.kind === 'once' ? undefined : timing.next(scheduledAt);
    if (next === undefined) {
      schedule.isDone = true;
      if (schedule.settings.ActionAfterCompletion === 'DELETE') this.#forget(schedule);
      this.#unrecorded.set(schedule, this.#record(schedule).catch(this.#report));
    }
    this.#goOn(pending, next);
  }

  /**
   * Records that a one-time schedule has fired, when its fire is on the disk: the record must not outlive the fire. A schedule of
   * the same name that was made meanwhile has replaced it in the journal.
   */
  async #record(schedule: StoredSchedule): Promise<void> {
    await this.#invoked();
    this.#unrecorded.delete(schedule);
    const { group, name } = schedule;
    const now = this.#kept.get(keyOf(schedule));
    if (now === undefined) this.#journal.append([{ op: 'delete', id: { group, name } }]);
    else if (now === schedule) this.#journal.append([{ op: 'done', id: { group, name } }]);
  }

  /** @param next undefined when the schedule does not fire again */
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

/** @throws AwsError when Scheduler would refuse the expression */
function checkedTiming(settings: ScheduleSettings, now: number): Timing {
  const refusal = (reason: string): AwsError =>
    new AwsError(
      'ValidationException',
      `Invalid Schedule Expression ${settings.ScheduleExpression}: ${reason}.`,
    );
  try {
    const timing = timingOf(settings);
    // AWS does not document it, but users report that it refuses a time in the past.
    if (timing.kind === 'once' && timing.at < now) throw refusal('it is in the past');
    return timing;
  } catch (error) {
    if (error instanceof ExpressionError) throw refusal(error.message);
    throw error;
  }
}
