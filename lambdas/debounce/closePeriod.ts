import { settings } from '../aws/settings.ts';
import { clockMarginMs, isAhead, isRecent, now, secondMs } from '../shared/clock.ts';
import { periodRow } from './period.ts';
import { update } from '../aws/writes.ts';

/** An API request times out after 29 s, so by then the row of its version is written. */
const publishTimeoutMs = 30 * secondMs;

interface Debounced {
  readonly key: string;
  /** The version of the message in its row. */
  readonly version: number;
}

/** @returns undefined if the period is closed; or when to ask again, because a publish has joined it */
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
  // The clock has stepped back since the last publish, so the quiet time is over.
  const isBehind = isAhead(period.joinedAt, time);
  if (period.dueAt > time && !isBehind) return period.dueAt;
  if (isRecent(period.joinedAt, publishTimeoutMs, time)) return time + secondMs;
  return (await close(key, messageId, period.version)).isMade ? undefined : time + secondMs;
}

const close = (key: string, id: string, version: number) =>
  update(settings.deduplicationTable, { id: key }, 'SET isClosed = :yes', {
    // The job may seem to be much too early because the clock has stepped back. But a publish may also have
    // moved the period's end.
    onlyIf: 'messageId = :id AND version = :version AND (dueAt <= :now OR joinedAt > :ahead)',
    values: { id, version, yes: true, now: now(), ahead: now() + clockMarginMs },
  });

/** Ends the quiet period of a message that is about to be cancelled. */
export async function endPeriod(messageId: string, { key }: Debounced): Promise<void> {
  await update(settings.deduplicationTable, { id: key }, 'SET isClosed = :yes', {
    onlyIf: 'messageId = :id',
    values: { id: messageId, yes: true },
  });
}
