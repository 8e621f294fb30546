import { settings } from '../aws/settings.ts';
import { clockMarginMs, isAhead, isRecent, now, secondMs } from '../shared/clock.ts';
import { periodRow } from './period.ts';
import { update } from '../aws/writes.ts';

/** An API request times out after 29 s: a version's row is written by then. */
const publishTimeoutMs = 30 * secondMs;

interface Debounced {
  readonly key: string;
  /** The message's version in its row. */
  readonly version: number;
}

/** @returns undefined if the period is closed; or when to ask again, Unix milliseconds, because a publish has joined it */
export async function closePeriod(
  messageId: string,
  { key, version }: Debounced,
): Promise<number | undefined> {
  const { isMade, row } = await close(key, messageId, version);
  if (isMade || row === undefined) return undefined;
  const period = periodRow.parse(row);
  // Another period has begun.
  if (period.messageId !== messageId) return undefined;
  const time = now();
  // If the clock has stepped back since, the job came after the quiet time.
  const isBehind = isAhead(period.joinedAt, time);
  if (period.dueAt > time && !isBehind) return period.dueAt;
  if (isRecent(period.joinedAt, publishTimeoutMs, time)) return time + secondMs;
  return (await close(key, messageId, period.version)).isMade ? undefined : time + secondMs;
}

const close = (key: string, id: string, version: number) =>
  update(settings.deduplicationTable, { id: key }, 'SET isClosed = :yes', {
    // A job that comes much too early counts as one from before the clock stepped back, but a publish may have moved the end.
    onlyIf: 'messageId = :id AND version = :version AND (dueAt <= :now OR joinedAt > :ahead)',
    values: { id, version, yes: true, now: now(), ahead: now() + clockMarginMs },
  });

/** Ends the period of a message that is about to be cancelled. */
export async function endPeriod(messageId: string, { key }: Debounced): Promise<void> {
  await update(settings.deduplicationTable, { id: key }, 'SET isClosed = :yes', {
    onlyIf: 'messageId = :id',
    values: { id: messageId, yes: true },
  });
}
