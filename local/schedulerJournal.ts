/** What Scheduler has promised to keep. */
import * as z from 'zod/mini';
import { nowhere, openAppendOnly, readEntries, type AppendOnly } from './appendOnly.ts';
import { scheduleSettings } from './schedulerSettings.ts';

/** A schedule's name is unique in its group. */
const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  /** Epoch milliseconds, as are all times here. */
  createdAt: z.number(),
  modifiedAt: z.number(),
  /** Of the call that created it. */
  clientToken: z.optional(z.string()),
  /** A one-time schedule that has fired. */
  isDone: z.boolean(),
});
export type StoredSchedule = z.infer<typeof storedSchedule>;

const storedGroup = z.object({
  name: z.string(),
  createdAt: z.number(),
  clientToken: z.optional(z.string()),
});
export type StoredGroup = z.infer<typeof storedGroup>;

const entry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keepGroup'), group: storedGroup }),
  z.object({ op: z.literal('deleteGroup'), name: z.string() }),
  z.object({ op: z.literal('keep'), schedule: storedSchedule }),
  z.object({ op: z.literal('done'), id: scheduleId }),
  z.object({ op: z.literal('delete'), id: scheduleId }),
]);
export type SchedulerEntry = z.infer<typeof entry>;

/** Both by their keys. */
export interface KeptSchedules {
  readonly groups: Map<string, StoredGroup>;
  readonly schedules: Map<string, StoredSchedule>;
}

export interface SchedulerJournal {
  /** What was kept when the journal was opened. */
  readonly kept: KeptSchedules;
  readonly file: AppendOnly<SchedulerEntry>;
}

/** What a schedule is found by; keys sort by group and then by name. */
export function keyOf({ group, name }: ScheduleId): string {
  return `${group}/${name}`;
}

/** For a stage that keeps nothing. */
export function noSchedulerJournal(): SchedulerJournal {
  return { kept: { groups: new Map(), schedules: new Map() }, file: nowhere };
}

/**
 * Reads the journal and rewrites it to what is kept.
 *
 * @throws StageError when the file is damaged
 */
export function openSchedulerJournal(path: string): SchedulerJournal {
  const kept: KeptSchedules = { groups: new Map(), schedules: new Map() };
  const described = { name: "Scheduler's journal", holds: 'all schedules and long delays' };
  for (const change of readEntries(path, entry, described)) apply(kept, change);
  return { kept, file: openAppendOnly(path, entriesOf(kept)) };
}

/** What makes the same of an empty journal. */
export function* entriesOf({ groups, schedules }: KeptSchedules): Generator<SchedulerEntry> {
  for (const group of groups.values()) yield { op: 'keepGroup', group };
  for (const schedule of schedules.values()) yield { op: 'keep', schedule };
}

/** Changes what is kept as the entry says; one about a schedule that is gone changes nothing. */
function apply({ groups, schedules }: KeptSchedules, change: SchedulerEntry): void {
  switch (change.op) {
    case 'keepGroup':
      groups.set(change.group.name, change.group);
      return;
    case 'deleteGroup':
      groups.delete(change.name);
      for (const [key, { group }] of schedules) if (group === change.name) schedules.delete(key);
      return;
    case 'keep':
      schedules.set(keyOf(change.schedule), change.schedule);
      return;
    case 'done': {
      const found = schedules.get(keyOf(change.id));
      if (found !== undefined) found.isDone = true;
      return;
    }
    case 'delete':
      schedules.delete(keyOf(change.id));
  }
}
