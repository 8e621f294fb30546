/**
 * Attempts that wait for their account: that it is served again, or that it has room for one more delivery. They wait in a
 * line in the table, and not in the queues.
 */
import { isServed, type Account } from '../domain/account.ts';
import { dayMs, minuteMs, now, secondMs } from '../domain/clock.ts';
import type { Pointer } from '../domain/pointer.ts';
import { settings } from '../settings.ts';
import { loadAccount } from '../stores/accounts.ts';
import { prolongBody } from '../stores/bodies.ts';
import { isLookDue, noteLook } from '../stores/flight.ts';
import { claimHeld, listHeld, putHeld, removeHeld, type HeldAttempt } from '../stores/held.ts';
import { loadMessage, prolongMessage, type MessageHistory } from '../stores/messages.ts';
import { shardsOf } from '../stores/shards.ts';
import { tellRegion } from '../transport/accountChanges.ts';
import { sendPointer } from '../transport/queue.ts';
import { merged } from './pages.ts';

/** How long an attempt waits. */
const longestHoldMs = 500 * dayMs;
/** A message that is let go has all its retries before it; it is kept for at least so long after its hold. */
const afterHoldMs = 300 * dayMs;
/** A message that waits for room is kept for longer when it has less than this left. */
const shortOfTimeMs = 7 * dayMs;

type Attempt = Pick<Pointer, 'attempt'>;

async function putInLine(history: MessageHistory, attempt: Attempt, leftMs: number): Promise<HeldAttempt> {
  const { message } = history;
  const { accountId, messageId } = message;
  const until = now() + longestHoldMs;
  if (message.expiresAt < now() + leftMs) {
    const prolonged = { ...message, expiresAt: until + afterHoldMs };
    await prolongMessage(prolonged, await prolongBody(prolonged, history.body, now()));
  }
  const held = { accountId, messageId, attempt: attempt.attempt };
  await putHeld(held, until);
  return held;
}

/**
 * Lets an attempt wait until its account is served again. Its pointer can be dropped afterwards.
 *
 * The account is read once more when the attempt is written down: whoever makes it active later finds the attempt, and if
 * somebody did so just before, it goes on at once.
 */
export async function hold(history: MessageHistory, attempt: Attempt): Promise<void> {
  const held = await putInLine(history, attempt, longestHoldMs);
  const account = await loadAccount(held.accountId, true);
  if (account !== undefined && isServed(account)) await letGo(held);
}

/** How soon the line is looked at after somebody has joined it, whoever else lets it go on meanwhile. */
const lookSeconds = 5;

/**
 * Lets an attempt wait until its account has room for it. Its pointer can be dropped afterwards: whose delivery ends lets
 * the next one go, and should he die, a look at the line does.
 */
export async function waitForRoom(history: MessageHistory, attempt: Attempt): Promise<void> {
  const { accountId } = await putInLine(history, attempt, shortOfTimeMs);
  await askForLook(accountId, lookSeconds);
}

/** Has the line looked at, once for many that ask for it. */
export async function askForLook(accountId: string, seconds: number): Promise<void> {
  const time = now();
  if (await isLookDue(accountId, time)) return;
  await tellRegion(settings.region, accountId, seconds);
  await noteLook(accountId, time + seconds * secondMs);
}

/** Who has taken an attempt and not let it go by then has died: it takes three calls. */
const staleMs = minuteMs;

/**
 * Sends the pointer to an attempt that waited, unless its message has ended meanwhile.
 *
 * @returns false when another worker is at it
 */
async function letGo(held: HeldAttempt): Promise<boolean> {
  const claimedAt = now();
  if (!(await claimHeld(held, claimedAt, claimedAt - staleMs))) return false;
  const history = await loadMessage(held);
  if (history !== undefined && history.end === undefined) {
    await sendPointer(history.message, held.attempt, now());
  }
  // Should it be held again by now, it stays.
  await removeHeld(held, claimedAt);
  return true;
}

/** How many attempts are let go at once. */
const atOnce = 20;

/** Ids of messages begin with their time. */
const isOlder = (one: HeldAttempt, other: HeldAttempt): boolean => one.messageId < other.messageId;

/**
 * Lets so many attempts of an account go as there is room for, those that wait for longest first.
 *
 * @returns whether none is left; one that another worker is at may stay, should he die
 */
export async function letSomeGo({ id }: Pick<Account, 'id'>, room: number): Promise<boolean> {
  let left = room;
  let isAnothers = false;
  let batch: HeldAttempt[] = [];
  const flush = async (): Promise<void> => {
    const gone = await Promise.all(batch.map(letGo));
    left -= gone.filter(Boolean).length;
    isAnothers ||= gone.includes(false);
    batch = [];
  };
  const shards = shardsOf(id).map((shard) => listHeld(id, shard));
  for await (const held of merged(shards, isOlder)) {
    if (left <= 0) return false;
    batch.push(held);
    if (batch.length >= Math.min(atOnce, left)) await flush();
  }
  await flush();
  return !isAnothers;
}
