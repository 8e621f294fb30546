/** The journal of Scheduler: all schedules that it must not lose. */
import * as z from 'zod/mini';
import { nowhere, openAppendOnly, readEntries, type AppendOnly } from '../journal/appendOnly.ts';
import { scheduleSettings } from './settings.ts';

/** A schedule's name is unique in its group. */
const scheduleId = z.object({ group: z.string(), name: z.string() });
export type ScheduleId = z.infer<typeof scheduleId>;

const storedSchedule = z.extend(scheduleId, {
  settings: scheduleSettings,
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** The token of the call that created the schedule. */
  clientToken: z.optional(z.string()),
  /** A one-time schedule that has fired. */
  isDone: z.boolean(),
});
export type StoredSchedule = z.infer<typeof storedSchedule>;

const entry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keep'), schedule: storedSchedule }),
  z.object({ op: z.literal('done'), id: scheduleId }),
  z.object({ op: z.literal('delete'), id: scheduleId }),
  // Journals of earlier versions have this entry; those versions kept the groups too.
  z.object({ op: z.literal('keepGroup') }),
]);
export type SchedulerEntry = z.infer<typeof entry>;

export interface SchedulerJournal {
  /** The schedules that were kept when the journal was opened, by their keys. */
  readonly kept: Map<string, StoredSchedule>;
  readonly file: AppendOnly<SchedulerEntry>;
}

/** The key of a schedule; keys sort by group and then by name. */
export function keyOf({ group, name }: ScheduleId): string {
  return `${group}/${name}`;
}

/** A journal of a stage that keeps nothing. */
export function noSchedulerJournal(): SchedulerJournal {
  return { kept: new Map(), file: nowhere };
}

/**
 * Reads the journal, and rewrites it so that it has only the schedules that are kept.
 *
 * @param lacksEntries called before it is rewritten, where schedules may be missing
 */
export function openSchedulerJournal(path: string, lacksEntries = (): void => undefined): SchedulerJournal {
  const kept = new Map<string, StoredSchedule>();
  for (const change of readEntries(path, entry, lacksEntries)) apply(kept, change);
  return { kept, file: openAppendOnly(path, entriesOf(kept)) };
}

/** The entries that make an empty journal one of these schedules. */
function* entriesOf(schedules: ReadonlyMap<string, StoredSchedule>): Generator<SchedulerEntry> {
  for (const schedule of schedules.values()) yield { op: 'keep', schedule };
}

/** Applies an entry again. An entry about a deleted schedule changes nothing. */
function apply(schedules: Map<string, StoredSchedule>, change: SchedulerEntry): void {
  switch (change.op) {
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
      return;
    case 'keepGroup':
  }
}
