/**
 * Tells what looks have found. A look first writes its notices into the account's
 * row, and removes them once their messages are stored. A look that dies in between leaves the notices to the next one, which makes the same messages: their ids
 * are derived. So each notice is sent once, and no notice is lost.
 */
import type { Account } from '../account/account.ts';
import { timers } from '../aws/resources.ts';
import { loadMessage } from '../message/history.ts';
import { acceptEach } from '../publish/accept.ts';
import type { Draft } from '../publish/prepare.ts';
import { now, secondMs } from '../shared/clock.ts';
import { countFollowing } from '../usage/counter.ts';
import type { Alarms } from './alarm.ts';
import { noticeDraft } from './draft.ts';
import { saveAlarms } from './store/rows.ts';

/** The function of a look has ended by then, so notices that are still there were left by a dead one. */
const staleMs = (timers.lookForAlarms.functionTimeoutSeconds + 15) * secondMs;

/** Writes alarms in the place of the version that they have. @returns undefined where others were faster */
async function save(alarms: Alarms): Promise<Alarms | undefined> {
  const saved = { ...alarms, version: alarms.version + 1 };
  return (await saveAlarms(saved, alarms)) ? saved : undefined;
}

/**
 * Keeps what a look has found, and tells it.
 *
 * @param found the alarms as they are from now on
 * @throws when something could not be stored: the next look tells the rest
 */
export async function keepAndTell(account: Account, found: Alarms): Promise<void> {
  const saved = await save({ ...found, toldSince: now() });
  if (saved !== undefined && saved.notices.length > 0) await tell(account, saved, draftsOf(account, saved));
}

const draftsOf = (account: Account, alarms: Alarms): readonly Draft[] =>
  alarms.notices.map((notice) => noticeDraft(account, alarms, notice));

/**
 * Tells what a dead look has left.
 *
 * @returns the alarms as they are then; undefined where another look is at work with them
 */
export async function withoutNotices(account: Account, alarms: Alarms): Promise<Alarms | undefined> {
  if (alarms.notices.length === 0) return alarms;
  if (now() - alarms.toldSince < staleMs) return undefined;
  const claimed = await save({ ...alarms, toldSince: now() });
  if (claimed === undefined) return undefined;
  const left: Draft[] = [];
  for (const draft of draftsOf(account, claimed)) if (!(await hasBegun(draft))) left.push(draft);
  return tell(account, claimed, left);
}

/** Whether a message was made before, and its first attempt as well. */
async function hasBegun({ message }: Draft): Promise<boolean> {
  const history = await loadMessage(message);
  return history !== undefined && (history.attempts.length > 0 || history.end !== undefined);
}

/**
 * Accepts messages, and takes the notices out.
 *
 * @returns undefined if the alarms were changed since
 * @throws when one could not be stored: its notice stays
 */
async function tell(account: Account, alarms: Alarms, drafts: readonly Draft[]): Promise<Alarms | undefined> {
  const failures = [...(await acceptEach(drafts)).values()];
  if (failures.length > 0) throw new AggregateError(failures, 'Not every alarm could be stored.');
  // They follow from others, as callbacks do: a daily limit that is reached must not hold back its own alarm.
  await countFollowing(account, drafts.length);
  return save({ ...alarms, notices: [] });
}
