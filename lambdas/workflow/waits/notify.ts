/** Notifications for all of an account who wait for an event. */
import { checkBodySize } from '../../message/bodies.ts';
import { jsonBytes, largestAnswer } from '../../wire/answerSize.ts';
import type { Account } from '../../account/account.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { HttpError } from '../../error/httpError.ts';
import { chunksOf, eachOf } from '../../shared/lists.ts';
import { checkEventId, isWaiting } from '../rules/events.ts';
import type { Snapshot, WaitRecord } from '../rules/journal.ts';
import { loadRecords, type RunKey } from '../store/journals.ts';
import { waitersOf, type Waiter } from '../store/waiters.ts';
import { withCharges, type Charges } from '../../usage/charge.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { followEnds, sendLooks, type Ended } from './endWait.ts';
import type { Notification } from './notifyRun.ts';
import { waiterRecord } from './waiters.ts';
import { wakingOf, type Woken } from './wakeWaits.ts';
import { wokenBefore } from './wokenBefore.ts';

/** A record has at most 400 KB, and each entry up to 9 KB. */
const wokenByOneRecord = 25;
/** Those who are woken together: their messages are stored 25 at a time, and sent 10 at a time. */
const wokenTogether = 200;
/** The gateway gives up after 29 s, and whatever was begun must end. */
const budgetMs = 18 * secondMs;
/** A place takes half a kilobyte of memory. So many cannot be woken in time. */
const mostWaiters = 20_000;
const runsAtOnce = 20;
/** Bytes of events whose results are made at once. Each is held several times over, and longer by a third each time. */
const bytesAtOnce = 16 * 1_024 * 1_024;

/** A waiter, with its wait. */
interface Found {
  readonly waiter: Waiter;
  readonly wait: WaitRecord;
}

/** The outcome of waiters. */
type Outcomes = Map<Waiter, Notification>;

/**
 * Wakes all who wait for an event, in the order in which they began to wait. Sent again after a failure, it wakes the rest.
 *
 * @returns one item for each that it woke, or that an earlier try with the same body has woken
 * @throws HttpError 412 for what is no id of an event, 413; 429 or 412 above a limit of the account; 503 when there are more than
 * can be woken in one request
 * @throws RunBusy
 */
export async function notify(
  account: Account,
  eventId: string,
  body: Uint8Array,
): Promise<readonly Notification[]> {
  checkEventId(eventId);
  checkBodySize(account, body);
  const until = now() + budgetMs;
  const waiters: Waiter[] = [];
  for await (const waiter of waitersOf(account.id, eventId)) {
    waiters.push(waiter);
    if (waiters.length >= mostWaiters) break;
  }
  if (waiters.length === 0) return [];
  const outcomes: Outcomes = new Map();
  const end = await withCharges(account, waiters.length, async (charges) => {
    try {
      for (const together of chunksOf(waiters, wokenTogether)) {
        if (now() > until) return { isComplete: false };
        await wakeTogether(account, together, body, charges, outcomes);
      }
      return { isComplete: waiters.length < mostWaiters };
    } catch (error) {
      // Those that were woken before stay counted: to throw here would take all of them back.
      return { error };
    }
  });
  if ('error' in end) throw end.error;
  if (!end.isComplete) {
    throw new HttpError(
      503,
      'time_over',
      `${outcomes.size} who wait for the event were woken, which are as many as time suffices for; send it again for the others.`,
    );
  }
  return fitting(waiters.flatMap((waiter) => outcomes.get(waiter) ?? []));
}

/** Wakes waiters, of whatever runs. */
async function wakeTogether(
  account: Account,
  waiters: readonly Waiter[],
  event: Uint8Array,
  charges: Charges,
  outcomes: Outcomes,
): Promise<void> {
  const records = await loadRecords(waiters);
  const found = waiters.flatMap((waiter): readonly Found[] => {
    const wait = records.get(waiter);
    return wait?.kind === 'wait' ? [{ waiter, wait }] : [];
  });
  await sendLooks(waiters);
  const ended: Ended[] = [];
  const atOnce = Math.max(1, Math.min(runsAtOnce, Math.floor(bytesAtOnce / Math.max(1, event.length))));
  try {
    await eachOf(byRun(found), atOnce, async (ofRun) => {
      for (const some of chunksOf(ofRun, wokenByOneRecord)) {
        const end = await wakeOfRun(account, some, event, charges, outcomes);
        if (end !== undefined) ended.push(end);
      }
    });
  } finally {
    // Those that were recorded before another failed do not wait for their looks.
    await followEnds(account, ended, false);
  }
}

function byRun(found: readonly Found[]): readonly (readonly Found[])[] {
  const runs = new Map<string, Found[]>();
  for (const one of found) {
    const { runId } = one.waiter;
    const ofRun = runs.get(runId);
    if (ofRun === undefined) runs.set(runId, [one]);
    else ofRun.push(one);
  }
  return [...runs.values()];
}

/** Records that waits of one run have ended, all with one record. */
async function wakeOfRun(
  account: Account,
  found: readonly Found[],
  event: Uint8Array,
  charges: Charges,
  outcomes: Outcomes,
): Promise<Ended | undefined> {
  const [first] = found;
  if (first === undefined) return undefined;
  const { accountId, runId } = first.waiter;
  const key: RunKey = { accountId, runId };
  const waits = new Map(found.map(({ waiter, wait }) => [waiter.seq, wait]));
  const waking = wakingOf(account, key, event, (seq) => {
    const wait = waits.get(seq);
    return wait === undefined ? Promise.reject(new Error(`Wait ${seq} is unknown.`)) : Promise.resolve(wait);
  });
  let admitted = 0;
  let refusal: HttpError | undefined;
  const admit = (messages: number): void => {
    if (admitted > messages) charges.giveBack(admitted - messages);
    const tooMany = admitted < messages ? charges.charge(messages - admitted) : undefined;
    if (tooMany !== undefined) throw tooMany;
    admitted = messages;
  };
  const decide = async (current: Snapshot | undefined): Promise<Decision<readonly Woken[]>> => {
    const seqs = found.flatMap(({ waiter: { seq } }) => (isWaiting(current, seq) ? [seq] : []));
    admit(seqs.length);
    if (current === undefined || seqs.length === 0) return { result: [] };
    try {
      return await waking.decide(current, seqs);
    } catch (error) {
      // One run that takes no more holds up none of the others.
      if (!(error instanceof HttpError)) throw error;
      refusal = error;
      return { result: [] };
    }
  };
  const { head, record, result } = await changeRun(key, decide).catch((error: unknown) => {
    admit(0);
    throw error;
  });
  admit(result.length);
  const woken = new Map(result.map(({ seq, result: { entry } }) => [seq, entry.messageId]));
  for (const { waiter, wait } of found) {
    const messageId = woken.get(waiter.seq);
    const isLeft = messageId === undefined && isWaiting(head, waiter.seq);
    const shown =
      messageId === undefined && !isLeft
        ? await wokenBefore(account, head, waiter, wait, event)
        : { messageId: messageId ?? wait.messageId, error: refusal?.message ?? '', code: refusal?.code };
    if (shown === undefined || head === undefined) continue;
    const run = { workflowRunId: runId, workflowCreatedAt: head.createdAt };
    outcomes.set(waiter, { waiter: waiterRecord(wait), error: '', ...shown, ...run });
  }
  return head !== undefined && record?.kind === 'steps' ? { key, head, record, places: result } : undefined;
}

/** Leaves out the last waiters where all would not fit into an answer; every item stays. */
function fitting(items: readonly Notification[]): readonly Notification[] {
  let bytes = items.reduce((sum, item) => sum + jsonBytes({ ...item, waiter: undefined }) + 1, 2);
  return items.map((item) => {
    if (item.waiter === undefined) return item;
    bytes += jsonBytes(item.waiter) + '"waiter":,'.length;
    return bytes > largestAnswer ? { ...item, waiter: undefined } : item;
  });
}
