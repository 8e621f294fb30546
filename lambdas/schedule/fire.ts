import { minuteMs, now } from '../shared/clock.ts';
import { mostFaults, type GiveUpReason } from '../job/redelivery.ts';
import { TransientError } from '../error/transientError.ts';
import { timeOfId } from '../shared/ids.ts';
import { formatNotice, type FireNotice } from './schedule.ts';
import { claimFire, finishFire, loadSchedule, noteFire, type StoredSchedule } from './rows.ts';
import { log } from '../aws/log.ts';
import { count, measure } from '../aws/metrics.ts';
import { sendUndelivered } from '../job/receipt.ts';
import { endLeftOver, sendMissed } from './firing.ts';
import { publishFire } from './publishFire.ts';

/** A worker that has not finished the fire it claimed by then has died: its function ends after 60 s. */
const staleMs = minuteMs;

/** A save's schedules in Scheduler are made before its row: until the request to the API has ended, the row may still come. */
const savingMs = minuteMs;

/**
 * Tells whether the row of a save that is not the schedule's latest may still come. A save is made on the row that was read
 * before it, so no row comes after a later one.
 *
 * @param schedule as it is now
 */
const mayStillCome = (saveId: string, schedule: StoredSchedule | undefined): boolean =>
  now() - timeOfId(saveId) <= savingMs &&
  (schedule === undefined || timeOfId(schedule.saveId) <= timeOfId(saveId));

/**
 * Handles a schedule's fire, which Scheduler may send more than once: publishes what the schedule says, once.
 *
 * @param sentAt Unix milliseconds at which the notice was sent to its queue
 * @throws when the fire must be sent again: another worker handles it, something could not be stored, or its save is not done yet
 */
export async function fire(notice: FireNotice, { sentAt }: { readonly sentAt: number }): Promise<void> {
  const { accountId, scheduleId, saveId } = notice;
  const time = fireTime(notice, sentAt);
  const schedule = await loadSchedule(accountId, scheduleId);
  if (schedule?.saveId !== saveId) {
    if (mayStillCome(saveId, schedule)) throw new Error('The row of what fired may still come.');
    // A request whose save came second ends that save itself; what still fires after it was left behind.
    if (now() - timeOfId(saveId) > savingMs) await endLeftOver(accountId, saveId);
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
  // Before this fire is noted: from then on what came before it does not count as missed.
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

/** The errors that a schedule shows of a fire that was given up. */
const givenUpErrors: Readonly<Record<GiveUpReason, string>> = {
  deaths: 'The worker died each time it was to publish this fire; the operator finds it in its log.',
  faults: `The service itself failed ${mostFaults} times with this fire; the operator finds the errors in the worker's log.`,
};

/**
 * Gives up a fire that kills its worker, or that the service fails with: its schedule says so, and an operator finds it in
 * the queue of undelivered fires.
 *
 * @throws when that has to be done again
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
  log.error('A fire is given up', { accountId, scheduleId, time, error });
  await sendUndelivered(formatNotice(notice));
  // The fire is not marked as handled: an operator makes up for it by sending its text again.
  await noteFire(accountId, scheduleId, { time, messageIds: [], error });
  count('GivenUp');
  count('ScheduleMisses');
}

/**
 * The minute that a fire is for, in Unix milliseconds. Scheduler writes it into the notice. Emulators leave the keyword there;
 * they have sent the notice within that minute.
 */
function fireTime({ time }: FireNotice, sentAt: number): number {
  const timeMs = Date.parse(time);
  return Number.isNaN(timeMs) ? Math.floor(sentAt / minuteMs) * minuteMs : timeMs;
}
