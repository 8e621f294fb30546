/**
 * An entry of the audit trail is written before its change is made, so each change has an entry, even if a
 * process dies. If the change is refused, the entry is withdrawn. If the change fails or is not answered, the
 * entry stays, because the change may have been made.
 */
import type { CodeOf } from '../error/errorCodes.ts';
import { HttpError } from '../error/httpError.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import type { AuditAction } from '../wire/auditActions.ts';
import { nextDay, now, secondMs } from '../shared/clock.ts';
import {
  countNewEntry,
  finishEntry,
  withdrawEntry,
  writeEntry,
  type AuditEntry,
  type AuditPlace,
  type Finished,
} from './store/entries.ts';

export type { AuditPlace } from './store/entries.ts';

/** The actor of a change by the management API or a deployment. */
export const operator = 'operator';

/** The actor of a change that the service makes because the account asked for it earlier. */
export const theService = 'service';

interface Change extends AuditEntry {
  readonly action: AuditAction;
}

/**
 * Writes the entry of a change. An account's own tokens may add a number of entries in a day. Repetitions
 * within a minute add none.
 *
 * @param mostPerDay the entries that may be added in a day; undefined for the operator, who has no limit
 * @throws HttpError 429, or an error if the entry cannot be written; the change must not be made then
 */
export async function beginChange(
  { id: accountId, region }: { readonly id: string; readonly region: string },
  change: Change,
  mostPerDay?: number,
): Promise<AuditPlace> {
  const { place, isNew } = await writeEntry({ accountId, region }, change);
  if (isNew && mostPerDay !== undefined && !(await countNewEntry(place, mostPerDay))) {
    await logAndContinue(withdrawEntry(place));
    const tomorrow = nextDay(now());
    throw new HttpError(
      429,
      'daily_limit_reached',
      `The account made ${mostPerDay} changes today, as many as it may: 100, or its limit max_requests_per_day_hard if that is more. The next day begins at ${new Date(tomorrow).toISOString()}.`,
      { 'retry-after': String(Math.ceil((tomorrow - now()) / secondMs)) },
    );
  }
  return place;
}

/** Adds details of a change to its entry, if there are any. */
export async function finishChange(place: AuditPlace, finished: Finished): Promise<void> {
  const { subject, changes = [], number } = finished;
  if (subject === undefined && changes.length === 0 && number === undefined) return;
  await logAndContinue(finishEntry(place, finished));
}

/** Codes of 503 that mean that. */
const unchanged: ReadonlySet<string> = new Set<CodeOf<503>>(['busy', 'not_stored', 'region_draining']);

const isRefusal = (error: unknown): boolean =>
  error instanceof HttpError && (error.status < 500 || unchanged.has(error.code));

/**
 * Withdraws the entry of a refused change. If this fails, the audit trail shows a change that was not made.
 */
export async function withdrawRefused(place: AuditPlace, error: unknown): Promise<void> {
  if (isRefusal(error)) await logAndContinue(withdrawEntry(place));
}
