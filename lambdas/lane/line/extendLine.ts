/** Extends the lifetimes of messages that wait for long: of their rows and bodies, and of the pages of their line. */
import { isDeleted, limitsOf, type Account } from '../../account/account.ts';
import { dayMs, now } from '../../shared/clock.ts';
import type { Lane } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import { expiryOf } from '../../message/message.ts';
import { loadAccount } from '../../account/accounts.ts';
import { savePages } from '../store/lanes.ts';
import { extendBody } from '../../message/bodies.ts';
import { loadMessage, type MessageHistory } from '../../message/history.ts';
import { extendMessageRow } from '../../message/messages.ts';
import { kindOf } from '../../message/kinds.ts';
import { extendEveryMs } from '../slots/lanes.ts';
import { onLine } from './linePages.ts';

/** A message may start with this much less than the lifetime that it was given for all its retries and its dead letter. */
const missingMs = dayMs;
/** A message that is extended need not be extended again for this long. */
const addedLifetimeMs = 30 * dayMs;

/**
 * Extends the lifetime of a message that waits, so that it does not expire before its retries, its dead letter and its log
 * entries do.
 *
 * @param startsAt when it may start at the latest, unless it is extended again before. Unix milliseconds
 */
export async function extendMessage(
  { message, body }: MessageHistory,
  account: Account,
  startsAt: number,
): Promise<void> {
  // Counted from the account and the clock: counted from the row, its lifetime would grow each time.
  const expiryAfter = (notBefore: number): number => expiryOf({ ...message, notBefore }, limitsOf(account));
  if (message.expiresAt >= expiryAfter(startsAt) - missingMs) return;
  const expiresAt = expiryAfter(startsAt + addedLifetimeMs);
  const own = await kindOf(message);
  await own?.kind.extend(message, own.part, expiresAt);
  const extended = { ...message, expiresAt };
  await extendMessageRow(extended, await extendBody(extended, body, now()));
}

/** The place in a lane's lines to go on from; all before it was extended. */
export interface ExtendedTo {
  /** The page of the lane's own line; 0 for the whole line. */
  readonly keepsFrom: number;
  /** The place in the fair line; undefined for its beginning. */
  readonly keepsFairFrom?: string | undefined;
}

/**
 * Extends the lifetimes of all messages that wait in a lane.
 *
 * @param until Unix milliseconds after which it begins no more pages
 * @returns the place to go on from where the time did not suffice
 */
export async function extendLine(
  lane: Lane,
  { keepsFrom: from, keepsFairFrom }: ExtendedTo,
  until: number,
): Promise<ExtendedTo | undefined> {
  const { front, back, firstPage, nextPage } = lane.line;
  const account = await loadAccount(lane.accountId, false);
  // The messages of a deleted account are not delivered, and expire.
  if (account === undefined || isDeleted(account)) return undefined;
  const extend = async ({ messageId }: Entry): Promise<void> => {
    const history = await loadMessage({ accountId: lane.accountId, messageId });
    if (history !== undefined && history.end === undefined) {
      await extendMessage(history, account, now() + extendEveryMs);
    }
  };
  if (keepsFairFrom === undefined) {
    const keepsFrom = await onLine(
      lane,
      from === 0 ? [...front, ...back] : [],
      [Math.max(from, firstPage), nextPage],
      until,
      extend,
      (number, entries) => savePages(lane, [{ number, entries }]),
    );
    if (keepsFrom !== undefined) return { keepsFrom };
  }
  if (lane.fair === undefined) return undefined;
  const { extendFairLine } = await import('./extendFairLine.ts');
  const left = await extendFairLine(lane, keepsFairFrom, until, extend);
  return left === undefined ? undefined : { keepsFrom: nextPage, keepsFairFrom: left };
}
