/** Schedules in the store, with an index of those that will fire, by time. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store, Write } from '../store/store.ts';
import { scheduleSettings } from './settings.ts';

const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

export const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  createdAt: z.number(),
  clientToken: z.optional(z.string()),
  isDone: z.boolean(),
  /** When the next fire is due, if there is one. Earlier releases did not store this. */
  dueAt: z.optional(z.number()),
});
export type StoredSchedule = z.infer<typeof storedSchedule>;

export const keyOf = ({ group, name }: ScheduleId): string => `${group}/${name}`;

/** The keys of all schedules begin with `first`. `behind` is the next byte. */
const first = 's';
const behind = 't';

export const scheduleKey = (id: ScheduleId): Buffer => Buffer.from(`${first}${keyOf(id)}`);

export const toBytes = (schedule: StoredSchedule): Buffer => Buffer.from(JSON.stringify(schedule));

/**
 * Only a quick check: schedules were validated when they were created and have checksums, and a start may
 * read a million.
 */
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

export const scheduleKeys = { from: Buffer.from(first), to: Buffer.from(behind) } as const;

/**
 * @param group to read only its schedules
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

/**
 * The keys of the index begin with this byte. The byte alone is the key of a note that the index is complete.
 */
const index = Buffer.from('t');
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

/** Replaces or deletes a schedule together with its entry in the index. */
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

/** The fires of a kind that are due from a time on, before another time; earliest first. */
export function* firesOf(store: Store, kind: Kind, from: number, to: number): Generator<Fire> {
  for (const key of store.keys({ from: beginning(kind, from), to: beginning(kind, to) })) {
    const [group = '', name = ''] = key.toString('utf8', 10).split('/');
    yield { id: { group, name }, dueAt: key.readDoubleBE(2) };
  }
}

/** Makes the next start complete the index. */
export const forgetIndex = (write: Write): void => {
  write(index, undefined);
};

const together = 1_000;

/**
 * Completes the index of a store that an earlier release wrote, or that was restored.
 *
 * @param dueAtOf returns when a schedule's next fire is due
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
