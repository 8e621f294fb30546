import type { Answer, logEntry } from '../../../../lambdas/wire/answers.ts';

export type LogEntry = Answer<typeof logEntry>;

export interface Happening {
  /** The start. */
  readonly at: number;
  readonly last: LogEntry;
  readonly failure: LogEntry | undefined;
  /** The duration of an attempt, in milliseconds; undefined for other entries. */
  readonly tookMs: number | undefined;
}

/** Groups log entries by attempt. Newest first, like the entries. */
export function happeningsOf(entries: readonly LogEntry[]): readonly Happening[] {
  const groups = new Map<string, LogEntry[]>();
  for (const entry of entries) {
    const isAttempt = entry.retried !== undefined && entry.state !== 'HELD';
    const key = !isAttempt ? `${entry.state} ${entry.time}` : String(entry.retried);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].flatMap((group) => {
    const [last] = group;
    if (last === undefined) return [];
    const began = group.find(({ state }) => state === 'ACTIVE');
    return [
      {
        at: (began ?? last).time,
        last,
        failure: group.find(({ state }) => state === 'ERROR'),
        tookMs: began === undefined || began === last ? undefined : last.time - began.time,
      },
    ];
  });
}
