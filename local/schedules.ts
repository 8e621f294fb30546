/**
 * The schedules themselves: groups, one-time and recurring schedules with time zones, exact to the millisecond where
 * AWS promises the minute. A one-time schedule that was due while the stage was down fires when it is up again; a
 * recurring one goes on with its next time. A fire comes before its record, so that a kill between the two repeats it.
 */
import type { AppendOnly } from './appendOnly.ts';
import { Heap, type Placed } from './heap.ts';
import { ExpressionError } from './schedulerCron.ts';
import { SchedulerError } from './schedulerError.ts';
import { parseTiming, type RecurringTiming, type Timing } from './schedulerExpression.ts';
import {
  entriesOf,
  keyOf,
  type KeptSchedules,
  type ScheduleId,
  type SchedulerEntry,
  type SchedulerJournal,
  type StoredGroup,
  type StoredSchedule,
} from './schedulerJournal.ts';
import type { ScheduleSettings } from './schedulerSettings.ts';

/** One attempt to invoke a schedule's target. */
export interface Invocation {
  readonly schedule: StoredSchedule;
  /** The time that the schedule names, in epoch milliseconds. */
  readonly scheduledAt: number;
  /** From 1. */
  readonly attempt: number;
}

export interface SchedulesOptions {
  readonly journal: SchedulerJournal;
  /** Epoch milliseconds; `wake` is to be called after it has jumped. */
  readonly now: () => number;
  /** Has the target durably invoked when it returns; what it throws makes the attempt one that is repeated. */
  readonly invoke: (invocation: Invocation) => void;
  /** Told of what `invoke` throws. */
  readonly report: (error: unknown) => void;
}

/** A schedule that will fire. */
interface Pending extends Placed {
  readonly schedule: StoredSchedule;
  readonly timing: Timing;
  scheduledAt: number;
  /** The scheduled time, or later when the attempt is to be repeated. */
  dueAt: number;
  failures: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page goes on; undefined after the last one. */
  readonly next: string | undefined;
}

export interface PageRequest {
  readonly namePrefix: string;
  /** The `next` of the page before. */
  readonly after: string | undefined;
  readonly max: number;
}

export interface ScheduleFilter {
  readonly group: string | undefined;
  readonly state: ScheduleSettings['State'] | undefined;
}

/** Always there, and cannot be deleted. */
const defaultGroup = 'default';

/** A recurring schedule's time is over after this: Scheduler is exact to the minute. */
const graceMs = 60_000;
/** What fails here is the stage's own disk, so that no retry policy ends the attempts. */
const retryAfterMs = 1_000;
/** The longest that Node's timers wait. */
const longestWaitMs = 2 ** 31 - 1;

export class Schedules {
  readonly #kept: KeptSchedules;
  readonly #journal: AppendOnly<SchedulerEntry>;
  readonly #now: () => number;
  readonly #invoke: SchedulesOptions['invoke'];
  readonly #report: SchedulesOptions['report'];
  readonly #pending = new Map<string, Pending>();
  readonly #byDueTime = new Heap<Pending>((a, b) => a.dueAt < b.dueAt);
  /** All keys in their order; undefined when it has to be found anew. */
  #sortedKeys: string[] | undefined;
  #alarm: NodeJS.Timeout | undefined;

  constructor({ journal, now, invoke, report }: SchedulesOptions) {
    this.#kept = journal.kept;
    this.#journal = journal.file;
    this.#now = now;
    this.#invoke = invoke;
    this.#report = report;
    if (!this.#kept.groups.has(defaultGroup)) this.createGroup(defaultGroup);
    for (const schedule of this.#kept.schedules.values()) this.#plan(schedule, timingOf(schedule));
    this.#serve();
  }

  /**
   * @param clientToken a repetition with the same token succeeds and changes nothing
   * @throws SchedulerError
   */
  create(id: ScheduleId, settings: ScheduleSettings, clientToken?: string): void {
    this.group(id.group);
    const existing = this.#kept.schedules.get(keyOf(id));
    if (existing !== undefined) {
      if (clientToken !== undefined && existing.clientToken === clientToken) return;
      throw new SchedulerError('ConflictException', `Schedule ${id.name} already exists.`);
    }
    const now = this.#now();
    this.#keep({ ...id, settings, createdAt: now, modifiedAt: now, clientToken, isDone: false });
    this.#sortedKeys = undefined;
  }

  /**
   * Replaces all settings, those that are left out by their defaults.
   *
   * @throws SchedulerError
   */
  update(id: ScheduleId, settings: ScheduleSettings): void {
    this.#keep({ ...this.get(id), settings, modifiedAt: this.#now(), isDone: false });
  }

  /** @throws SchedulerError */
  get(id: ScheduleId): StoredSchedule {
    this.group(id.group);
    const schedule = this.#kept.schedules.get(keyOf(id));
    if (schedule === undefined) {
      throw new SchedulerError('ResourceNotFoundException', `Schedule ${id.name} does not exist.`);
    }
    return schedule;
  }

  /** @throws SchedulerError */
  delete(id: ScheduleId): void {
    this.get(id);
    this.#remove(id);
    this.#compact();
    this.#serve();
  }

  list({ group, state }: ScheduleFilter, { namePrefix, after = '', max }: PageRequest): Page<StoredSchedule> {
    if (group !== undefined) this.group(group);
    this.#sortedKeys ??= [...this.#kept.schedules.keys()].sort();
    const items: StoredSchedule[] = [];
    for (const key of this.#sortedKeys) {
      if (key <= after) continue;
      const schedule = this.#kept.schedules.get(key);
      if (schedule === undefined) continue;
      if (group !== undefined && schedule.group !== group) continue;
      if (state !== undefined && schedule.settings.State !== state) continue;
      if (!schedule.name.startsWith(namePrefix)) continue;
      if (items.length === max) return { items, next: keyOf(items[max - 1] ?? schedule) };
      items.push(schedule);
    }
    return { items, next: undefined };
  }

  /** @throws SchedulerError */
  createGroup(name: string, clientToken?: string): void {
    const existing = this.#kept.groups.get(name);
    if (existing !== undefined) {
      if (clientToken !== undefined && existing.clientToken === clientToken) return;
      throw new SchedulerError('ConflictException', `Schedule group ${name} already exists.`);
    }
    const group: StoredGroup = { name, createdAt: this.#now(), clientToken };
    this.#journal.append([{ op: 'keepGroup', group }]);
    this.#kept.groups.set(name, group);
  }

  /** @throws SchedulerError */
  group(name: string): StoredGroup {
    const group = this.#kept.groups.get(name);
    if (group === undefined) {
      throw new SchedulerError('ResourceNotFoundException', `Schedule group ${name} does not exist.`);
    }
    return group;
  }

  /**
   * Deletes a group with all its schedules, at once; AWS takes its time.
   *
   * @throws SchedulerError
   */
  deleteGroup(name: string): void {
    this.group(name);
    if (name === defaultGroup) {
      throw new SchedulerError('ValidationException', 'The default schedule group cannot be deleted.');
    }
    this.#journal.append([{ op: 'deleteGroup', name }]);
    this.#kept.groups.delete(name);
    for (const schedule of this.#kept.schedules.values()) {
      if (schedule.group === name) this.#forget(schedule);
    }
    this.#serve();
  }

  listGroups({ namePrefix, after = '', max }: PageRequest): Page<StoredGroup> {
    const found = [...this.#kept.groups.values()]
      .filter(({ name }) => name > after && name.startsWith(namePrefix))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const items = found.slice(0, max);
    return { items, next: found.length > max ? items.at(-1)?.name : undefined };
  }

  /** When a schedule fires next, in epoch milliseconds. */
  get nextDue(): number | undefined {
    return this.#byDueTime.first?.dueAt;
  }

  /** Looks at the clock again. */
  wake(): void {
    this.#serve();
  }

  close(): void {
    clearTimeout(this.#alarm);
    this.#journal.close();
  }

  #keep(schedule: StoredSchedule): void {
    const timing = this.#checkedTiming(schedule);
    this.#journal.append([{ op: 'keep', schedule }]);
    this.#cancel(schedule);
    this.#kept.schedules.set(keyOf(schedule), schedule);
    this.#plan(schedule, timing);
    this.#compact();
    this.#serve();
  }

  /** @throws SchedulerError */
  #checkedTiming(schedule: StoredSchedule): Timing {
    const now = this.#now();
    const { ScheduleExpression, StartDate, EndDate } = schedule.settings;
    const refuse = (message: string): never => {
      throw new SchedulerError('ValidationException', message);
    };
    try {
      const timing = timingOf(schedule);
      if (timing.kind === 'once') {
        // Its documents do not say so, but its users report that AWS refuses a time that has passed.
        if (timing.at < now) refuse(`Invalid Schedule Expression ${ScheduleExpression}: it is in the past.`);
        return timing;
      }
      if (StartDate !== undefined && StartDate * 1000 < now - 5 * 60_000) {
        refuse('The StartDate you specify cannot be earlier than 5 minutes ago.');
      }
      if (EndDate !== undefined && EndDate * 1000 <= now) {
        refuse('The EndDate you specify cannot be in the past.');
      }
      if (StartDate !== undefined && EndDate !== undefined && StartDate >= EndDate) {
        refuse('The StartDate you specify must come before the EndDate.');
      }
      return timing;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return refuse(`Invalid Schedule Expression ${ScheduleExpression}: ${error.message}.`);
    }
  }

  /** Has an enabled schedule wait: for its time, be it past, or for its first time from now on when it recurs. */
  #plan(schedule: StoredSchedule, timing: Timing): void {
    if (schedule.settings.State === 'DISABLED' || schedule.isDone) return;
    const now = this.#now();
    // A rate without a start date fires at once when it is made.
    const after = timing.kind === 'rate' ? now - 1 : now;
    const at = timing.kind === 'once' ? timing.at : nextTime(schedule, timing, after);
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

  #remove(id: ScheduleId): void {
    this.#journal.append([{ op: 'delete', id: { group: id.group, name: id.name } }]);
    this.#forget(id);
  }

  #forget(id: ScheduleId): void {
    this.#cancel(id);
    this.#kept.schedules.delete(keyOf(id));
    this.#sortedKeys = undefined;
  }

  /** Fires all that is due, in its order, and sets the alarm for the rest. */
  #serve(): void {
    clearTimeout(this.#alarm);
    for (let next = this.#byDueTime.first; next !== undefined; next = this.#byDueTime.first) {
      const now = this.#now();
      if (next.dueAt > now) {
        const serve = (): void => {
          this.#serve();
        };
        this.#alarm = setTimeout(serve, Math.min(next.dueAt - now, longestWaitMs));
        return;
      }
      this.#fire(next, now);
    }
  }

  #fire(pending: Pending, now: number): void {
    const { schedule, scheduledAt, timing, failures } = pending;
    if (timing.kind !== 'once' && failures === 0 && now - scheduledAt > graceMs) {
      // The machine has slept.
      this.#goOn(pending, nextTime(schedule, timing, now));
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
    const next = timing.kind === 'once' ? undefined : nextTime(schedule, timing, scheduledAt);
    if (next === undefined) {
      if (schedule.settings.ActionAfterCompletion === 'DELETE') this.#remove(schedule);
      else if (timing.kind === 'once') {
        this.#journal.append([{ op: 'done', id: { group: schedule.group, name: schedule.name } }]);
        schedule.isDone = true;
      }
      this.#compact();
    }
    this.#goOn(pending, next);
  }

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

  /** To be called only where memory and journal say the same. */
  #compact(): void {
    const { groups, schedules } = this.#kept;
    if (this.#journal.isLong(groups.size + schedules.size)) this.#journal.rewrite(entriesOf(this.#kept));
  }
}

function timingOf({ settings, modifiedAt }: StoredSchedule): Timing {
  const { ScheduleExpression, ScheduleExpressionTimezone, StartDate } = settings;
  const firstRate = StartDate === undefined ? modifiedAt : StartDate * 1000;
  return parseTiming(ScheduleExpression, ScheduleExpressionTimezone, firstRate);
}

/** The first time after a moment that is within the schedule's dates. */
function nextTime({ settings }: StoredSchedule, timing: RecurringTiming, after: number): number | undefined {
  const { StartDate = -Infinity, EndDate = Infinity } = settings;
  const next = timing.next(Math.max(after, StartDate * 1000 - 1));
  return next !== undefined && next < EndDate * 1000 ? next : undefined;
}
