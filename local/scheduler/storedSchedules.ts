import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store } from '../store/store.ts';
import { scheduleSettings } from './settings.ts';

const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

export const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  /** Epoch milliseconds. */
  createdAt: z.number(),
  clientToken: z.optional(z.string()),
  isDone: z.boolean(),
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

/** @param at the snapshot to read */
export function* storedSchedules(store: Store, at?: Snapshot): Generator<StoredSchedule> {
  for (const { value } of store.range({ from: Buffer.from(first), to: Buffer.from(behind), at })) {
    const schedule = jsonOrUndefined(value.toString());
    if (!isStored(schedule)) throw new DamageError('The store is damaged: a schedule is none.');
    yield schedule;
  }
}
