/** Finds the attempts that wait in lanes or have a granted slot. */
import { parseEntry, type Entry } from './rules/entry.ts';
import { processPrefix, type Lane } from './lane.ts';
import type { AdmittedTo, LaneKind, PumpJob } from '../job/job.ts';
import type { DueJob } from '../job/send.ts';
import { allLanes } from './store/laneRows.ts';
import { listOf } from '../shared/lists.ts';
import { now } from '../shared/clock.ts';
import { onFairLine } from './line/fairEntries.ts';
import { onLine } from './line/linePages.ts';
import { youngMs } from './slots/dueAttempt.ts';

/** The attempts of a lane, by {@link nameOf}. */
export interface LaneJobs {
  /** Attempts in a line. They need no job, because a pump will grant them slots. */
  readonly waiting: ReadonlySet<string>;
  /** Attempts with a granted slot. A job without the grant would be dropped as a duplicate. */
  readonly granted: ReadonlyMap<string, AdmittedTo>;
}

export const nameOf = (
  accountId: string,
  { messageId, attempt }: Pick<Entry, 'messageId' | 'attempt'>,
): string => `${accountId}#${messageId}#${String(attempt)}`;

/** The order in which an attempt enters lanes. The last of its grants counts. */
const order: readonly LaneKind[] = ['queue', 'hold', 'circuit', 'key', 'account'];

export async function laneJobsOf(lanes: readonly Lane[]): Promise<LaneJobs> {
  const waiting = new Set<string>();
  const granted = new Map<string, AdmittedTo>();
  for (const lane of lanes.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))) {
    const { accountId, kind, name, line, fair, deletedLines, deletedFairLines, leases } = lane;
    const lines = [
      { entries: [...line.front, ...line.back], firstPage: line.firstPage, nextPage: line.nextPage },
      ...deletedLines,
    ];
    const onEntry = (entry: Entry): Promise<void> => {
      waiting.add(nameOf(accountId, entry));
      return Promise.resolve();
    };
    for (const { entries, firstPage, nextPage } of lines) {
      await onLine(lane, entries, [firstPage, nextPage], Infinity, onEntry);
    }
    for (const { fair: one, from } of [...(fair ? [{ fair, from: undefined }] : []), ...deletedFairLines]) {
      await onFairLine(lane, one, from, Infinity, { onEntry });
    }
    for (const [holder, { ticket, until }] of leases) {
      if (ticket === undefined || holder.startsWith(processPrefix)) continue;
      if (until !== undefined && until <= now()) continue;
      // So long ago that the grant counts as written.
      const sentAt = now() - 2 * youngMs;
      granted.set(nameOf(accountId, parseEntry(holder)), { lane: kind, name, ticket, sentAt });
    }
  }
  return { waiting, granted };
}

/** The pump jobs of a lane: one for now, and those that it has scheduled. */
export function pumpsOf({ accountId, kind, name, pumpAt, keepAt }: Lane): readonly DueJob[] {
  const pump = (dueAt: number, keepsFrom?: number): DueJob => {
    const job: PumpJob = { kind: 'pump', accountId, lane: kind, name, dueAt, keepsFrom };
    return { job, dueAt };
  };
  return [
    pump(now(), 0),
    ...(pumpAt > now() ? [pump(pumpAt)] : []),
    ...(keepAt > now() ? [pump(keepAt, 0)] : []),
  ];
}

export const readLanes = (): Promise<readonly Lane[]> => listOf(allLanes());
