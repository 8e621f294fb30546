/** Drains a region: it accepts nothing new and finishes the rest. */
import { isRemoved, type Account } from '../account/account.ts';
import { isThere, waitingIn } from '../lane/lane.ts';
import { settings } from '../aws/settings.ts';
import { accountsOf, loadAccount, saveAccount } from '../account/accounts.ts';
import { countPresent } from '../deadLetter/sizeRows.ts';
import { readLanes } from '../lane/recover.ts';
import { unfinishedMessages } from '../message/unfinished.ts';
import { allSchedules } from '../schedule/rows.ts';
import { countActiveRuns } from '../workflow/recover.ts';
import { queueDepths } from '../aws/queueDepths.ts';
import { dueTimeOf } from '../message/status.ts';

export interface Left {
  /** Messages that have not ended. */
  readonly messages: number;
  /** When the last of these is due. */
  readonly lastDueAt: number | undefined;
  /** Active runs. */
  readonly runs: number;
  /** Schedules that are not paused. Each fire makes another message. */
  readonly schedules: number;
  /** Messages in each SQS queue that is not empty. */
  readonly queues: Readonly<Record<string, number>>;
  /** Paused queues and flow-control keys with waiting messages. */
  readonly paused: readonly string[];
  /** Paused schedules and dead letters do not delay the drain, but are lost with the region. */
  readonly pausedSchedules: number;
  readonly deadLetters: number;
}

/** Fires that were given up stay until an operator removes them, so a drained region may have some. */
const notWaitedFor = new Set(['undeliveredFires']);

export const isEmptied = ({ messages, runs, schedules, queues }: Left): boolean =>
  messages + runs + schedules === 0 && Object.keys(queues).every((name) => notWaitedFor.has(name));

/**
 * Makes all accounts of this region refuse new work, or accept it again, from their next request on. For
 * accounts that are created later it must be called again.
 *
 * @returns how many accounts were changed
 */
export async function setDraining(isDraining: boolean): Promise<number> {
  const { region } = settings;
  let changed = 0;
  for await (const found of accountsOf(region, region, undefined)) {
    let account: Account | undefined = found;
    while (account !== undefined && !isRemoved(account) && (account.isDraining ?? false) !== isDraining) {
      const after = { ...account, isDraining: isDraining || undefined, version: account.version + 1 };
      if (await saveAccount(after, account)) {
        changed += 1;
        break;
      }
      account = await loadAccount(account.id, true);
    }
  }
  return changed;
}

/** Finds what a region still has to do, by reading all its tables once. */
export async function readRegion(): Promise<Left> {
  const depths = await queueDepths();
  let messages = 0;
  let lastDueAt: number | undefined;
  for await (const history of unfinishedMessages()) {
    messages += 1;
    const last = history.attempts.at(-1);
    const dueAt = history.open?.until ?? dueTimeOf(history, last === undefined ? 0 : last.number + 1);
    lastDueAt = Math.max(lastDueAt ?? dueAt, dueAt);
  }
  const runs = await countActiveRuns();
  let schedules = 0;
  let pausedSchedules = 0;
  for await (const { isPaused } of allSchedules()) {
    if (isPaused) pausedSchedules += 1;
    else schedules += 1;
  }
  const paused: string[] = [];
  for (const lane of await readLanes()) {
    if (!lane.isPaused || !isThere(lane) || waitingIn(lane) === 0) continue;
    paused.push(`${lane.kind} ${lane.name} of ${lane.accountId}`);
  }
  return {
    messages,
    lastDueAt,
    runs,
    schedules,
    queues: Object.fromEntries(Object.entries(depths).filter(([, depth]) => depth > 0)),
    paused,
    pausedSchedules,
    deadLetters: await countPresent(),
  };
}
