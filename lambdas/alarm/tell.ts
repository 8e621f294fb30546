/**
 * Sends the notices of checks. A check writes them into the account's row, and removes them when their
 * messages are stored. If it dies in between, the next check sends them. The ids of their messages are
 * derived, so each notice is sent once.
 */
import type { Account } from '../account/account.ts';
import { timers } from '../aws/resources.ts';
import { loadMessage } from '../message/history.ts';
import { acceptEach } from '../publish/accept.ts';
import type { Draft } from '../publish/prepare.ts';
import { isRecent, now, secondMs } from '../shared/clock.ts';
import { countFollowing } from '../usage/counter.ts';
import type { Alarms } from './alarm.ts';
import { noticeDraft } from './draft.ts';
import { saveAlarms } from './store/rows.ts';

const staleMs = (timers.lookForAlarms.functionTimeoutSeconds + 15) * secondMs;

/** Writes the next version of alarms. @returns undefined if another process was faster */
async function save(alarms: Alarms): Promise<Alarms | undefined> {
  const saved = { ...alarms, version: alarms.version + 1 };
  return (await saveAlarms(saved, alarms)) ? saved : undefined;
}

/**
 * Stores the result of a check and sends its notices.
 *
 * @param found the alarms after the check
 * @throws if something could not be stored; the next check sends the rest
 */
export async function keepAndTell(account: Account, found: Alarms): Promise<void> {
  const saved = await save({ ...found, toldSince: now() });
  if (saved !== undefined && saved.notices.length > 0) await tell(account, saved, draftsOf(account, saved));
}

const draftsOf = (account: Account, alarms: Alarms): readonly Draft[] =>
  alarms.notices.map((notice) => noticeDraft(account, alarms, notice));

/**
 * Sends the notices that a check left when it died.
 *
 * @returns the alarms afterwards; undefined if another check is working on them
 */
export async function withoutNotices(account: Account, alarms: Alarms): Promise<Alarms | undefined> {
  if (alarms.notices.length === 0) return alarms;
  if (isRecent(alarms.toldSince, staleMs, now())) return undefined;
  const claimed = await save({ ...alarms, toldSince: now() });
  if (claimed === undefined) return undefined;
  const left: Draft[] = [];
  for (const draft of draftsOf(account, claimed)) if (!(await hasBegun(draft))) left.push(draft);
  return tell(account, claimed, left);
}

/** Whether a message is stored and its first attempt has begun. */
async function hasBegun({ message }: Draft): Promise<boolean> {
  const history = await loadMessage(message);
  return history !== undefined && (history.attempts.length > 0 || history.end !== undefined);
}

/**
 * Accepts messages and removes their notices.
 *
 * @returns undefined if the alarms were changed since
 * @throws if a message could not be stored; its notice stays
 */
async function tell(account: Account, alarms: Alarms, drafts: readonly Draft[]): Promise<Alarms | undefined> {
  const failures = [...(await acceptEach(drafts)).values()];
  if (failures.length > 0) throw new AggregateError(failures, 'Not every alarm could be stored.');
  // No daily limit applies, as for callbacks: a limit must not hold back the alarm about it.
  await countFollowing(account, drafts.length);
  return save({ ...alarms, notices: [] });
}
