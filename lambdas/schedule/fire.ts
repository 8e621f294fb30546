import { isRecent, minuteMs, now } from '../shared/clock.ts';
import { mostFaults, type GiveUpReason } from '../job/redelivery.ts';
import { TransientError } from '../error/transientError.ts';
import { timeOfId } from '../shared/ids.ts';
import { formatNotice, type FireNotice } from './schedule.ts';
import { claimFire, finishFire, loadSchedule, noteFire } from './rows.ts';
import type { StoredSchedule } from './schedule.ts';
import { log } from '../aws/log.ts';
import { count, measure } from '../aws/metrics.ts';
import { sendUndelivered } from '../job/receipt.ts';
import { endLeftOver, sendMissed } from './firing.ts';
import { publishFire } from './publishFire.ts';

/** A worker with an older claim has died: its function is ended after 60 s. */
const staleMs = minuteMs;

/** A schedule's save may be unfinished until its API request is over. */
const savingMs = minuteMs;

/**
 * Whether a save may still be written. A save replaces the row that it read, so it is never written after a
 * later one.
 *
 * @param schedule as it is now
 */
const mayStillCome = (saveId: string, schedule: StoredSchedule | undefined): boolean =>
  isRecent(timeOfId(saveId), savingMs, now()) &&
  (schedule === undefined || timeOfId(schedule.saveId) <= timeOfId(saveId));

/**
 * Publishes a fire once, even if Scheduler sends it several times.
 *
 * @throws if it must be retried: another worker handles it, something could not be stored, or the schedule's
 * save is not finished
 */
export async function fire(notice: FireNotice, { sentAt }: { readonly sentAt: number }): Promise<void> {
  const { accountId, scheduleId, saveId } = notice;
  const time = fireTime(notice, sentAt);
  const schedule = await loadSchedule(accountId, scheduleId);
  if (schedule?.saveId !== saveId) {
    if (mayStillCome(saveId, schedule)) throw new Error('The row of the save may still come.');
    // A save that lost against another is removed by its own request. If it still fires later, that request
    // has died.
    if (!isRecent(timeOfId(saveId), savingMs, now())) await endLeftOver(accountId, saveId);
    return;
  }
  if (schedule.isPaused) return;
  if (notice.kind === 'look') {
    await sendMissed(schedule, time);
    return;
  }

  const claim = await claimFire(accountId, scheduleId, time, now(), now() - staleMs);
  if (claim === 'done') return;
  if (claim === 'busy') throw new TransientError('Another worker handles this fire.');
  // First the fires that were missed before this one: once this fire is noted, they no longer count as
  // missed.
  if (notice.kind === undefined) await sendMissed(schedule, time);
  const published = await publishFire(schedule, time);
  await noteFire(accountId, scheduleId, { time, ...published });
  await finishFire(accountId, scheduleId, { time, ...published });
  if (published.error !== undefined) count('ScheduleMisses');
  else {
    count('ScheduleFires');
    if (notice.kind === undefined) measure('FireDelay', now() - time);
  }
}

const givenUpErrors: Readonly<Record<GiveUpReason, string>> = {
  deaths: 'The worker died each time it published this fire; the operator finds it in its log.',
  faults: `The service itself failed ${mostFaults} times with this fire; the operator finds the errors in the worker's log.`,
};

/**
 * Gives up a fire that kills its worker or fails because of a bug. The schedule shows the error, and the fire
 * is in the queue of undelivered fires.
 *
 * @throws if this must be retried
 */
export async function giveUpFire(
  notice: FireNotice,
  why: GiveUpReason,
  { sentAt }: { readonly sentAt: number },
): Promise<void> {
  const { accountId, scheduleId, saveId } = notice;
  const time = fireTime(notice, sentAt);
  const schedule = await loadSchedule(accountId, scheduleId);
  if (schedule?.saveId !== saveId) return;
  const claim = await claimFire(accountId, scheduleId, time, now(), now() - staleMs);
  if (claim === 'done') return;
  if (claim === 'busy') throw new TransientError('Another worker handles this fire.');
  const error = givenUpErrors[why];
  log.error('A fire was given up', { accountId, scheduleId, time, error });
  await sendUndelivered(formatNotice(notice));
  // The fire is not marked as handled, so that an operator can send it again.
  await noteFire(accountId, scheduleId, { time, messageIds: [], error });
  count('GivenUp');
  count('ScheduleMisses');
}

/**
 * The minute of a fire. Emulators do not replace the keyword in the notice, but send the notice within that
 * minute.
 */
function fireTime({ time }: FireNotice, sentAt: number): number {
  const timeMs = Date.parse(time);
  return Number.isNaN(timeMs) ? Math.floor(sentAt / minuteMs) * minuteMs : timeMs;
}
