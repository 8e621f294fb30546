import { jsonBytes, largestAnswer } from '../../wire/answerSize.ts';
import type { Account } from '../../account/account.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { HttpError } from '../../error/httpError.ts';
import { chunksOf, eachOf } from '../../shared/lists.ts';
import { groupedBy } from '../rules/grouped.ts';
import { isWaiting } from '../rules/events.ts';
import { loadRecords } from '../store/journals.ts';
import { waitersOf, type Waiter } from '../store/waiters.ts';
import { withCharges, type Charges } from '../../usage/charge.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { followEnds, sendChecks, type Ended, type PlacedWait } from './endWait.ts';
import { checkEvent } from './giveEvent.ts';
import { type Notification, waiterRecord } from './notifyRun.ts';
import { granter, wakingOf, wokenBefore, type Woken } from './wakeWaits.ts';

/** A record has at most 400 KB, and an entry in it up to 9 KB. */
const wokenByOneRecord = 25;
const wokenTogether = 200;
/**
 * No more waits are ended after this time. The gateway times out after 29 s, and all work that was begun must
 * be finished before that.
 */
const budgetMs = 18 * secondMs;
/** More waits cannot be ended in time. Each takes half a kilobyte of memory. */
const mostWaiters = 20_000;
const runsAtOnce = 20;
/**
 * Bytes of events whose results are made at once. Each is in memory several times, each time a third longer.
 */
const bytesAtOnce = 16 * 1_024 * 1_024;

interface Found extends Pick<PlacedWait, 'wait'> {
  readonly waiter: Waiter;
}

type Items = Map<Waiter, Notification>;

/**
 * Ends all of an account's waits for an event, in the order in which they began. If not all are ended in
 * time, a repeated request ends the rest.
 *
 * @returns an item for each wait that this request ended, or that an earlier try with the same body ended
 * @throws HttpError 412 for a malformed event id, 413; 429 or 412 above a limit of the account; 503 if one
 * request cannot end them all
 * @throws RunBusy
 */
export async function notify(
  account: Account,
  eventId: string,
  body: Uint8Array,
): Promise<readonly Notification[]> {
  checkEvent(account, eventId, body);
  const until = now() + budgetMs;
  const waiters: Waiter[] = [];
  for await (const waiter of waitersOf(account.id, eventId)) {
    waiters.push(waiter);
    if (waiters.length >= mostWaiters) break;
  }
  if (waiters.length === 0) return [];
  const items: Items = new Map();
  const end = await withCharges(account, waiters.length, async (charges) => {
    try {
      for (const together of chunksOf(waiters, wokenTogether)) {
        if (now() > until) return { isComplete: false };
        await wakeTogether(account, together, body, charges, items);
      }
      return { isComplete: waiters.length < mostWaiters };
    } catch (error) {
      // Not thrown yet: that would give back the charged messages of waits that have already ended.
      return { error };
    }
  });
  if ('error' in end) throw end.error;
  if (!end.isComplete) {
    throw new HttpError(
      503,
      'time_over',
      `${items.size} who wait for the event were woken, which are as many as time suffices for; send it again for the others.`,
    );
  }
  return fitting(waiters.flatMap((waiter) => items.get(waiter) ?? []));
}

async function wakeTogether(
  account: Account,
  waiters: readonly Waiter[],
  event: Uint8Array,
  charges: Charges,
  items: Items,
): Promise<void> {
  const records = await loadRecords(waiters);
  const found = waiters.flatMap((waiter): readonly Found[] => {
    const wait = records.get(waiter);
    // A token wakes only runs at its own destinations.
    return wait?.kind === 'wait' && account.scope?.allows(wait.url) !== false ? [{ waiter, wait }] : [];
  });
  const byRun = groupedBy(found, ({ waiter }) => waiter.runId);
  await sendChecks(waiters);
  const ended: Ended[] = [];
  const atOnce = Math.max(1, Math.min(runsAtOnce, Math.floor(bytesAtOnce / Math.max(1, event.length))));
  try {
    await eachOf([...byRun.values()], atOnce, async (ofRun) => {
      for (const some of chunksOf(ofRun, wokenByOneRecord)) {
        const end = await wakeOfRun(account, some, event, charges, items);
        if (end !== undefined) ended.push(end);
      }
    });
  } finally {
    // If one record failed, the waits that ended before it are still delivered.
    await followEnds(account, ended, false);
  }
}

async function wakeOfRun(
  account: Account,
  found: readonly Found[],
  event: Uint8Array,
  charges: Charges,
  items: Items,
): Promise<Ended | undefined> {
  const [first] = found;
  if (first === undefined) return undefined;
  const { accountId, runId } = first.waiter;
  const key = { accountId, runId };
  const waits = new Map(found.map(({ waiter, wait }) => [waiter.seq, wait]));
  const wake = wakingOf(account, key, event, (seq) => {
    const wait = waits.get(seq);
    return wait === undefined ? Promise.reject(new Error(`Wait ${seq} is unknown.`)) : Promise.resolve(wait);
  });
  const grant = granter(charges);
  let refusal: HttpError | undefined;
  const change = changeRun(key, async (current): Promise<Decision<readonly Woken[]> | undefined> => {
    const seqs = found.flatMap(({ waiter: { seq } }) => (isWaiting(current, seq) ? [seq] : []));
    grant(seqs.length);
    if (current === undefined || seqs.length === 0) return undefined;
    try {
      return await wake(current, seqs);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      refusal = error;
      return undefined;
    }
  });
  const {
    snapshot,
    record,
    result = [],
  } = await change.catch((error: unknown) => {
    grant(0);
    throw error;
  });
  grant(result.length);
  const woken = new Map(result.map(({ seq, result: { entry } }) => [seq, entry.messageId]));
  for (const { waiter, wait } of found) {
    const messageId = woken.get(waiter.seq);
    const isLeft = messageId === undefined && isWaiting(snapshot, waiter.seq);
    const shown =
      messageId === undefined && !isLeft
        ? await wokenBefore(account, snapshot, waiter, wait, event)
        : { messageId: messageId ?? wait.messageId, error: refusal?.message ?? '', code: refusal?.code };
    if (shown === undefined || snapshot === undefined) continue;
    const run = { workflowRunId: runId, workflowCreatedAt: snapshot.createdAt };
    items.set(waiter, { waiter: waiterRecord(wait), error: '', ...shown, ...run });
  }
  return snapshot !== undefined && record?.kind === 'steps'
    ? { key, snapshot, record, places: result }
    : undefined;
}

/** Leaves out the last items if not all fit into an answer. */
function fitting(items: readonly Notification[]): readonly Notification[] {
  let bytes = items.reduce((sum, item) => sum + jsonBytes({ ...item, waiter: undefined }) + 1, 2);
  return items.map((item) => {
    if (item.waiter === undefined) return item;
    bytes += jsonBytes(item.waiter) + '"waiter":,'.length;
    return bytes > largestAnswer ? { ...item, waiter: undefined } : item;
  });
}
