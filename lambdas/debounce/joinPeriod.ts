import { createHash } from 'node:crypto';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { settings } from '../aws/settings.ts';
import { dayMs, epochSeconds, isAhead, now } from '../shared/clock.ts';
import { periodRow, type Period } from './period.ts';
import { put, update } from '../aws/writes.ts';

interface Joined extends Pick<Period, 'messageId' | 'version' | 'dueAt' | 'firstDueAt'> {
  readonly isFirst: boolean;
}

/** @param endpoint the name or URL of a URL group's endpoint. Each endpoint has its own messages */
export const periodKey = (accountId: string, id: string, endpoint = ''): string =>
  `debounce#${createHash('sha256')
    .update(JSON.stringify([accountId, id, endpoint]))
    .digest('base64url')}`;

interface Joining {
  readonly key: string;
  /** The message of the period, if this publish begins it. */
  readonly messageId: string;
  readonly quietMs: number;
  /** The longest time from the first publish of a period until its delivery. */
  readonly mostMs: number;
  /** Sends the job that delivers the period's message. Called before the period begins. */
  readonly onBegin: (dueAt: number) => Promise<void>;
}

/** @throws HttpError 503 if other processes were always faster */
export const joinPeriod = (joining: Joining): Promise<Joined> =>
  retryOnConflict('The id is used by many publishes at once; publish again.', async () => {
    const time = now();
    const wanted = time + joining.quietMs;
    const { isMade, row } = await extend(joining.key, time, wanted);
    if (isMade) return { ...periodRow.parse(row), isFirst: false };
    const before = row && periodRow.parse(row);
    return before === undefined || before.isClosed === true || before.dueAt <= time
      ? begin(joining, before, time)
      : extendTo(joining.key, before, time, dueAtOf(before, time, wanted));
  });

/** When the period ends after this publish. If the clock has stepped back, the earlier end is ignored. */
const dueAtOf = ({ joinedAt, dueAt, latestAt }: Period, time: number, wanted: number): number =>
  Math.min(latestAt, isAhead(joinedAt, time) ? wanted : Math.max(dueAt, wanted));

/** Adds a version to an open period, and moves its end to `dueAt`. */
const extend = (key: string, time: number, dueAt: number) =>
  update(settings.deduplicationTable, { id: key }, 'SET dueAt = :due, joinedAt = :now ADD version :one', {
    onlyIf:
      'attribute_exists(messageId) AND attribute_not_exists(isClosed) AND dueAt > :now AND dueAt <= :due AND latestAt >= :due',
    values: { due: dueAt, now: time, one: 1 },
    returns: 'ALL_NEW',
  });

/** Adds a version to a period that already ends at `dueAt` or later, or at its latest end. */
async function extendTo(
  key: string,
  before: Period,
  time: number,
  dueAt: number,
): Promise<Joined | undefined> {
  const version = before.version + 1;
  const { isMade } = await update(
    settings.deduplicationTable,
    { id: key },
    'SET dueAt = :due, joinedAt = :now, version = :version',
    {
      onlyIf: 'messageId = :id AND version = :before AND attribute_not_exists(isClosed)',
      values: { due: dueAt, now: time, version, id: before.messageId, before: before.version },
    },
  );
  return isMade ? { ...before, version, dueAt, isFirst: false } : undefined;
}

async function begin(
  { key, messageId, quietMs, mostMs, onBegin }: Joining,
  before: Period | undefined,
  time: number,
): Promise<Joined | undefined> {
  const latestAt = time + mostMs;
  const dueAt = Math.min(latestAt, time + quietMs);
  await onBegin(dueAt);
  const period = { messageId, firstDueAt: dueAt, version: 1, joinedAt: time, dueAt, latestAt };
  const { isMade, row } = await put(
    settings.deduplicationTable,
    { id: key, ...period, expiresAt: epochSeconds(latestAt + dayMs) },
    before === undefined
      ? { onlyIf: 'attribute_not_exists(messageId)' }
      : {
          onlyIf: 'messageId = :id AND version = :version',
          values: { id: before.messageId, version: before.version },
        },
  );
  // If the SDK repeated the write, the row is this publish's own.
  const isOurs = isMade || (row !== undefined && periodRow.parse(row).messageId === messageId);
  return isOurs ? { ...period, isFirst: true } : undefined;
}
