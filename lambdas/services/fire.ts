import { isServed } from '../domain/account.ts';
import { minuteMs, now } from '../domain/clock.ts';
import { HttpError } from '../domain/httpError.ts';
import { timeOfId } from '../domain/ids.ts';
import { parseNotice, schedulerName } from '../domain/schedule.ts';
import { settings } from '../settings.ts';
import { loadAccount } from '../stores/accounts.ts';
import { loadBody } from '../stores/bodies.ts';
import { claimFire, finishFire, loadSchedule, noteFire, type StoredSchedule } from '../stores/schedules.ts';
import { log } from '../transport/log.ts';
import { unschedule } from '../transport/scheduler.ts';
import { acceptEach } from './accept.ts';
import { prepare } from './publish.ts';
import { ensureQueue } from './queues.ts';
import { gateOf, settleUsage } from './usage.ts';

/** A worker that took a fire and has not finished it by then has died: its function ends after 60 s. */
const staleMs = minuteMs;

/** What fires a save is made before the save's row: until a request to the API has ended, the row may still come. */
const savingMs = minuteMs;

/**
 * Handles a schedule's fire, which Scheduler may send more than once: publishes what the schedule says, once.
 *
 * @param text a `FireNotice`
 * @param sentAt Unix milliseconds at which it was sent to the queue
 * @throws when the fire must come back: another worker is at it, or something could not be stored
 */
export async function fire(text: string, sentAt: number): Promise<void> {
  const { accountId, scheduleId, saveId, time: timeText } = parseNotice(text);
  const time = fireTime(timeText, sentAt);
  const schedule = await loadSchedule(accountId, scheduleId);
  if (schedule?.saveId !== saveId) {
    if (now() - timeOfId(saveId) > savingMs) await endLeftOver(saveId);
    return;
  }
  if (schedule.isPaused) return;

  const claim = await claimFire(accountId, scheduleId, time, now(), now() - staleMs);
  if (claim === 'done') return;
  if (claim === 'busy') throw new Error('Another worker handles this fire.');
  await noteFire(accountId, scheduleId, { time, ...(await publishFire(schedule, time)) });
  await finishFire(accountId, scheduleId, time);
}

/**
 * The minute that a fire is for. Scheduler writes it into the notice; an emulator that leaves the keyword there has sent
 * the notice within that minute.
 */
function fireTime(text: string, sentAt: number): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? Math.floor(sentAt / minuteMs) * minuteMs : time;
}

/** A cron expression translates to two of Scheduler's at most. */
const mostExpressions = 2;

/** What fires a schedule that was overwritten or deleted should have been ended then; it is now. */
async function endLeftOver(saveId: string): Promise<void> {
  await Promise.all(
    Array.from({ length: mostExpressions }, (_, index) => unschedule(schedulerName(saveId, index))),
  );
}

/** @returns the messages that were made, or why there are none */
async function publishFire(
  schedule: StoredSchedule,
  time: number,
): Promise<{ readonly messageIds: readonly string[]; readonly error?: string }> {
  const { accountId, scheduleId, seed, saveId } = schedule;
  const account = await loadAccount(accountId, false);
  if (account === undefined) return { messageIds: [], error: 'The account is not there.' };
  // Its tokens cannot change the schedule here, so it must not go on behind their back.
  if (account.region !== settings.region) {
    return { messageIds: [], error: `The account is served in ${account.region}.` };
  }
  if (!isServed(account)) return { messageIds: [], error: 'The account is not active.' };
  const body = await loadBody(saveId, schedule.body);
  const [host = ''] = settings.ownHosts;
  try {
    const { drafts } = await prepare(account, { ...schedule, body, host, fire: { scheduleId, time, seed } });
    const gate = await gateOf(account, drafts.length);
    const refusal = gate.admit(drafts.length);
    gate.close();
    if (refusal !== undefined) throw refusal;
    try {
      await ensureQueue(account, schedule.queueName);
      // What could not be accepted is accepted under the same ids when the fire comes back.
      const accepted = await acceptEach(drafts);
      if (!accepted.every(Boolean)) throw new Error('Not every message of a fire could be stored.');
    } catch (error) {
      gate.cancel();
      throw error;
    }
    await settleUsage(account);
    return { messageIds: drafts.map(({ message }) => message.messageId) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    log.warn('A schedule fired, but nothing could be published', {
      scheduleId,
      error: error.message,
    });
    return { messageIds: [], error: error.message };
  }
}
