/** Schedules in the store, and an index of those that wait, by the time when they are due. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store, Write } from '../store/store.ts';
import { scheduleSettings } from './settings.ts';

const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

export const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  /** Epoch milliseconds. */
  createdAt: z.number(),
  clientToken: z.optional(z.string()),
  isDone: z.boolean(),
  /** The time of the next fire, in epoch milliseconds, if there is one. Earlier releases did not store it. */
  dueAt: z.optional(z.number()),
});
export type StoredSchedule = z.infer<typeof storedSchedule>;

/** The key of a schedule. Keys sort by group, then by name. */
export const keyOf = ({ group, name }: ScheduleId): string => `${group}/${name}`;

/** All schedules' keys begin with `first`. `behind` is the next byte. */
const first = 's';
const behind = 't';

export const scheduleKey = (id: ScheduleId): Buffer => Buffer.from(`${first}${keyOf(id)}`);

export const toBytes = (schedule: StoredSchedule): Buffer => Buffer.from(JSON.stringify(schedule));

/** They were checked when created, and have checksums. A start may read a million of them. */
const isStored = (value: unknown): value is StoredSchedule =>
  typeof value === 'object' && value !== null && 'settings' in value && 'isDone' in value;

export function fromBytes(value: Buffer): StoredSchedule {
  const schedule = jsonOrUndefined(value.toString());
  if (!isStored(schedule)) throw new DamageError('The store is damaged: a schedule cannot be read.');
  return schedule;
}

export function readSchedule(store: Store, id: ScheduleId): StoredSchedule | undefined {
  const value = store.get(scheduleKey(id));
  return value && fromBytes(value);
}

/** The keys of all schedules. */
export const scheduleKeys = { from: Buffer.from(first), to: Buffer.from(behind) } as const;

/**
 * @param group its schedules only
 * @param at the snapshot to read
 */
export function* storedSchedules(store: Store, at?: Snapshot, group?: string): Generator<StoredSchedule> {
  const from = group === undefined ? first : `${first}${group}/`;
  const to = group === undefined ? behind : `${first}${group}0`;
  for (const { value } of store.range({ from: Buffer.from(from), to: Buffer.from(to), at })) {
    yield fromBytes(value);
  }
}

export interface Fire {
  readonly id: ScheduleId;
  readonly dueAt: number;
}

/** All keys of the index begin with this byte. The byte alone is the key of a note that the index is complete. */
const index = Buffer.from('t');
/** In the order of the index. */
export const kinds = ['once', 'recurring'] as const;
type Kind = (typeof kinds)[number];

const isRecurring = ({ settings }: StoredSchedule): boolean => settings.ScheduleExpression.startsWith('cron');

function beginning(kind: Kind, dueAt: number): Buffer {
  const bytes = Buffer.alloc(10);
  index.copy(bytes);
  bytes[1] = kinds.indexOf(kind);
  bytes.writeDoubleBE(dueAt, 2);
  return bytes;
}

function indexKey(schedule: StoredSchedule | undefined): Buffer | undefined {
  if (schedule?.dueAt === undefined || schedule.isDone) return undefined;
  const kind = isRecurring(schedule) ? 'recurring' : 'once';
  return Buffer.concat([beginning(kind, schedule.dueAt), Buffer.from(keyOf(schedule))]);
}

/** Replaces a schedule, or deletes it, with its entry in the index. */
export function putSchedule(
  write: Write,
  id: ScheduleId,
  before: StoredSchedule | undefined,
  after: StoredSchedule | undefined,
): void {
  write(scheduleKey(id), after && toBytes(after));
  const [was, is] = [indexKey(before), indexKey(after)];
  if (was !== undefined) write(was, undefined);
  if (is !== undefined) write(is, Buffer.alloc(0));
}

/** The fires of a kind that are due from a time until before another, earliest first. */
export function* firesOf(store: Store, kind: Kind, from: number, to: number): Generator<Fire> {
  for (const key of store.keys({ from: beginning(kind, from), to: beginning(kind, to) })) {
    const [group = '', name = ''] = key.toString('utf8', 10).split('/');
    yield { id: { group, name }, dueAt: key.readDoubleBE(2) };
  }
}

/** Lets the next start complete the index. */
export const forgetIndex = (write: Write): void => {
  write(index, undefined);
};

const together = 1_000;

/**
 * Makes the index of a store that an earlier release wrote, or that was restored.
 *
 * @param dueAtOf the time of the next fire of a schedule
 */
export async function completeIndex(
  store: Store,
  dueAtOf: (schedule: StoredSchedule) => number | undefined,
): Promise<void> {
  if (store.get(index) !== undefined) return;
  let number = 0;
  for (const schedule of storedSchedules(store)) {
    const dueAt = schedule.isDone ? undefined : (schedule.dueAt ?? dueAtOf(schedule));
    const indexed = { ...schedule, dueAt };
    void store.change((write) => {
      putSchedule(write, schedule, undefined, indexed);
    });
    number += 1;
    if (number % together === 0) await store.committed();
  }
  store.write(index, Buffer.alloc(0));
  await store.committed();
}
