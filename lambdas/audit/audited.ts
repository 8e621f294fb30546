/**
 * The audit trail is written ahead: an entry is in the table before its change is made. So no change is without an entry, wherever
 * a process dies. An entry whose change was refused is taken back; one whose change failed, or was not answered, stays, as its change
 * may have been made.
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

/** The actor where no token is: the operator, by the management API or with a deployment. */
export const operator = 'operator';

/** The actor where the service itself makes a change that its account asked for before. */
export const theService = 'service';

interface Change extends AuditEntry {
  readonly action: AuditAction;
}

/**
 * Notes that a change is about to be made. Changes have a share of the account's quota: its own tokens may add so many
 * entries in a day. Repetitions within a minute add none.
 *
 * @param mostPerDay the entries that may be added in a day; undefined for the operator, who is not held to a quota
 * @throws HttpError 429; or where the change cannot be noted. It must not be made then
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

/** Adds to the entry of a change that was made what was not known before, with one write where there is something to add. */
export async function finishChange(place: AuditPlace, finished: Finished): Promise<void> {
  const { subject, changes = [], number } = finished;
  if (subject === undefined && changes.length === 0 && number === undefined) return;
  await logAndContinue(finishEntry(place, finished));
}

/** The refusals with 503 that say that nothing was changed. */
const unchanged: ReadonlySet<string> = new Set<CodeOf<503>>(['busy', 'not_stored', 'region_draining']);

/** Whether an error says that nothing was changed. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HttpError && (error.status < 500 || unchanged.has(error.code));

/** Takes the entry of a change back that was refused. Should this fail, the trail shows a change that was not made. */
export async function withdrawRefused(place: AuditPlace, error: unknown): Promise<void> {
  if (isRefusal(error)) await logAndContinue(withdrawEntry(place));
}
