/**
 * One-time and recurring schedules. They are in the store, so that all processes can create, read and delete
 * them. One process fires them, see `firing.ts`.
 */
import { AwsError } from '../aws/awsError.ts';
import type { Store, Write } from '../store/store.ts';
import { ExpressionError } from './cron.ts';
import type { ScheduleSettings } from './settings.ts';
import {
  completeIndex,
  firesOf,
  kinds,
  putSchedule,
  readSchedule,
  storedSchedules,
  type Fire,
  type ScheduleId,
  type StoredSchedule,
} from './storedSchedules.ts';
import { parseTiming, type Timing } from './timing.ts';

export interface Invocation {
  readonly schedule: StoredSchedule;
  /** The schedule's time. */
  readonly scheduledAt: number;
}

interface SchedulesOptions {
  /** The deployment's groups, in addition to `default`. */
  readonly groups: readonly string[];
  readonly store: Store;
  readonly now: () => number;
  /**
   * Invokes the target as part of the fire's transaction. If it throws, the fire is tried again.
   *
   * @returns a function to call when the transaction is on the disk
   */
  readonly invoke: (invocation: Invocation, write: Write) => () => void;
}

/** A recurring schedule that is later than this skips the fire. Scheduler fires within a minute. */
const graceMs = 60_000;

export class Schedules {
  readonly #groups: ReadonlySet<string>;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #invoke: SchedulesOptions['invoke'];

  constructor({ groups, store, now, invoke }: SchedulesOptions) {
    this.#groups = new Set(['default', ...groups]);
    this.#store = store;
    this.#now = now;
    this.#invoke = invoke;
  }

  /**
   * Creates a schedule. Resolves when it is on the disk.
   *
   * @param clientToken if a call is repeated with the same token, it succeeds and changes nothing
   * @returns the first fire, if there is one
   * @throws AwsError
   */
  async create(id: ScheduleId, settings: ScheduleSettings, clientToken?: string): Promise<Fire | undefined> {
    this.#checkGroup(id.group);
    const createdAt = this.#now();
    const dueAt = nextOf(checkedTiming(settings, createdAt), createdAt);
    const schedule = { ...id, settings, createdAt, clientToken, isDone: false, dueAt };
    return this.#store.change((write) => {
      const existing = readSchedule(this.#store, id);
      if (existing === undefined) {
        putSchedule(write, id, undefined, schedule);
        return dueAt === undefined ? undefined : { id, dueAt };
      }
      if (clientToken !== undefined && existing.clientToken === clientToken) return undefined;
      throw new AwsError('ConflictException', `Schedule ${id.name} already exists.`, 409);
    });
  }

  get(id: ScheduleId): StoredSchedule {
    this.#checkGroup(id.group);
    this.#store.refresh();
    return this.#existing(id);
  }

  async delete(id: ScheduleId): Promise<void> {
    this.#checkGroup(id.group);
    await this.#store.change((write) => {
      putSchedule(write, id, this.#existing(id), undefined);
    });
  }

  /**
   * Lists all schedules, or those of a group, by key.
   *
   * @throws AwsError
   */
  list(group?: string): StoredSchedule[] {
    if (group !== undefined) this.#checkGroup(group);
    this.#store.refresh();
    return [...storedSchedules(this.#store, undefined, group)];
  }

  recurring(): StoredSchedule[] {
    this.#store.refresh();
    const waiting = [...firesOf(this.#store, 'recurring', 0, Infinity)];
    return waiting.flatMap(({ id }) => readSchedule(this.#store, id) ?? []);
  }

  /** The fires that are due from a time on, before another time. */
  *fires(from: number, to: number): Generator<Fire> {
    this.#store.refresh();
    for (const kind of kinds) yield* firesOf(this.#store, kind, from, to);
  }

  /** When the first fire after a time is due, if there is one. */
  firstDue(from: number): number | undefined {
    const dues = kinds.flatMap((kind) => {
      for (const { dueAt } of firesOf(this.#store, kind, from, Infinity)) return dueAt;
      return [];
    });
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  completeIndex(): Promise<void> {
    return completeIndex(this.#store, ({ settings }) => nextOf(timingOf(settings), this.#now()));
  }

  /**
   * Makes a fire, unless its schedule was deleted or changed. The fire and its record are one transaction.
   *
   * @param isFirst whether this is the first try
   * @param onNext gets the next fire when it is on the disk
   * @throws Error of the target or the store; then nothing has happened
   */
  async fire({ id, dueAt }: Fire, isFirst: boolean, onNext: (fire: Fire) => void): Promise<void> {
    const decide = (write: Write): (() => void) | undefined => {
      const schedule = readSchedule(this.#store, id);
      if (schedule === undefined || schedule.isDone || schedule.dueAt !== dueAt) return undefined;
      const timing = timingOf(schedule.settings);
      const now = this.#now();
      const isSkipped = timing.kind === 'recurring' && isFirst && now - dueAt > graceMs;
      const invoked = isSkipped ? undefined : this.#invoke({ schedule, scheduledAt: dueAt }, write);
      const next = timing.kind === 'once' ? undefined : timing.next(isSkipped ? now : dueAt);
      const isDeleted = next === undefined && schedule.settings.ActionAfterCompletion === 'DELETE';
      const after = { ...schedule, dueAt: next, isDone: next === undefined };
      putSchedule(write, id, schedule, isDeleted ? undefined : after);
      return () => {
        invoked?.();
        if (next !== undefined) onNext({ id, dueAt: next });
      };
    };
    await this.#store.change(decide, (release) => release?.());
  }

  /**
   * Plans recurring schedules again after the clock has stepped back. `onEarlier` gets each fire that is now
   * earlier.
   */
  async planAnew(onEarlier: (fire: Fire) => void): Promise<void> {
    const now = this.#now();
    const planned = this.recurring().map(({ group, name }) => {
      const id = { group, name };
      const decide = (write: Write): Fire | undefined => {
        const latest = readSchedule(this.#store, id);
        const next = latest && nextOf(timingOf(latest.settings), now);
        if (latest?.dueAt === undefined || next === undefined || next >= latest.dueAt) return undefined;
        putSchedule(write, id, latest, { ...latest, dueAt: next });
        return { id, dueAt: next };
      };
      return this.#store.change(decide, (fire) => {
        if (fire !== undefined) onEarlier(fire);
      });
    });
    await Promise.all(planned);
  }

  #existing(id: ScheduleId): StoredSchedule {
    const schedule = readSchedule(this.#store, id);
    if (schedule !== undefined) return schedule;
    throw new AwsError('ResourceNotFoundException', `Schedule ${id.name} does not exist.`, 404);
  }

  #checkGroup(name: string): void {
    if (this.#groups.has(name)) return;
    throw new AwsError('ResourceNotFoundException', `Schedule group ${name} does not exist.`, 404);
  }
}

function timingOf({ ScheduleExpression, ScheduleExpressionTimezone }: ScheduleSettings): Timing {
  return parseTiming(ScheduleExpression, ScheduleExpressionTimezone);
}

const nextOf = (timing: Timing, now: number): number | undefined =>
  timing.kind === 'once' ? timing.at : timing.next(now);

/** @throws AwsError if Scheduler would refuse the expression */
function checkedTiming(settings: ScheduleSettings, now: number): Timing {
  const refusal = (reason: string): AwsError =>
    new AwsError(
      'ValidationException',
      `Invalid Schedule Expression ${settings.ScheduleExpression}: ${reason}.`,
    );
  try {
    const timing = timingOf(settings);
    // Not documented, but users report that AWS refuses times in the past.
    if (timing.kind === 'once' && timing.at < now) throw refusal('it is in the past');
    return timing;
  } catch (error) {
    if (error instanceof ExpressionError) throw refusal(error.message);
    throw error;
  }
}
