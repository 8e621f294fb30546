import { isServed } from '../domain/account.ts';
import { dayMs, minuteMs, now } from '../domain/clock.ts';
import type { Pointer } from '../domain/pointer.ts';
import { loadAccount } from '../stores/accounts.ts';
import { prolongBody } from '../stores/bodies.ts';
import { claimHeld, listHeld, putHeld, removeHeld, type HeldAttempt } from '../stores/held.ts';
import { loadMessage, prolongMessage, type MessageHistory } from '../stores/messages.ts';
import { sendPointer } from '../transport/queue.ts';

/** How long a suspended account's messages wait for it. */
const longestHoldMs = 500 * dayMs;
/** A message that is let go has all its retries before it; it is kept for at least so long after its hold. */
const afterHoldMs = 300 * dayMs;

/**
 * Lets an attempt wait until its account is served again. Its pointer can be dropped afterwards.
 *
 * The account is read once more when the attempt is written down: whoever makes it active later finds the attempt, and if
 * somebody did so just before, it goes on at once.
 */
export async function hold(history: MessageHistory, { attempt }: Pick<Pointer, 'attempt'>): Promise<void> {
  const { message } = history;
  const { accountId, messageId } = message;
  const until = now() + longestHoldMs;
  if (message.expiresAt < until) {
    const prolonged = { ...message, expiresAt: until + afterHoldMs };
    await prolongMessage(prolonged, await prolongBody(prolonged, history.body, now()));
  }
  const held = { accountId, messageId, attempt };
  await putHeld(held, until);
  const account = await loadAccount(accountId, true);
  if (account !== undefined && isServed(account)) await letGo(held);
}

/** Who has taken an attempt and not let it go by then has died: it takes three calls. */
const staleMs = minuteMs;

/** Sends the pointer to an attempt that waited, unless its message has ended meanwhile, or another worker is at it. */
async function letGo(held: HeldAttempt): Promise<void> {
  const claimedAt = now();
  if (!(await claimHeld(held, claimedAt, claimedAt - staleMs))) return;
  const history = await loadMessage(held);
  if (history !== undefined && history.end === undefined) {
    await sendPointer(history.message, held.attempt, now());
  }
  // Should it be held again by now, it stays.
  await removeHeld(held, claimedAt);
}

/** How many attempts are let go at once. */
const atOnce = 20;

/**
 * Lets all attempts of an account go that wait.
 *
 * @param until Unix milliseconds at which to stop
 * @returns whether none is left
 */
export async function letAllGo(accountId: string, until: number): Promise<boolean> {
  let batch: HeldAttempt[] = [];
  const flush = async (): Promise<void> => {
    await Promise.all(batch.map(letGo));
    batch = [];
  };
  for await (const held of listHeld(accountId)) {
    batch.push(held);
    if (batch.length < atOnce) continue;
    await flush();
    if (now() > until) return false;
  }
  await flush();
  return true;
}
