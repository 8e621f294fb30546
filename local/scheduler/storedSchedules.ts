/** The schedules in the store, in the order of their groups and names. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store } from '../store/store.ts';
import { scheduleSettings } from './settings.ts';

/** A schedule's name is unique in its group. */
const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

export const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** The token of the call that created the schedule. */
  clientToken: z.optional(z.string()),
  /** A one-time schedule that has fired. */
  isDone: z.boolean(),
});
export type StoredSchedule = z.infer<typeof storedSchedule>;

/** The name of a schedule among all; names sort by group and then by name. */
export const keyOf = ({ group, name }: ScheduleId): string => `${group}/${name}`;

/** The first byte of the keys of all schedules, and the byte behind it. */
const first = 's';
const behind = 't';

export const scheduleKey = (id: ScheduleId): Buffer => Buffer.from(`${first}${keyOf(id)}`);

export const toBytes = (schedule: StoredSchedule): Buffer => Buffer.from(JSON.stringify(schedule));

/** They were checked when they were made, and have checksums: there may be a million at a start. */
const isStored = (value: unknown): value is StoredSchedule =>
  typeof value === 'object' && value !== null && 'settings' in value && 'isDone' in value;

/** @param at reads as of that moment */
export function* storedSchedules(store: Store, at?: Snapshot): Generator<StoredSchedule> {
  for (const { value } of store.range({ from: Buffer.from(first), to: Buffer.from(behind), at })) {
    const schedule = jsonOrUndefined(value.toString());
    if (!isStored(schedule)) throw new DamageError('The store is damaged: a schedule is none.');
    yield schedule;
  }
}
