/**
 * Holds in the API. A hold's lane decides whether deliveries are held. The account's row lists the holds, so
 * that attempts know which lanes to ask. It is written first when a hold begins and last when it ends. It is
 * not written when a hold expires.
 */
import type { Account } from '../account/account.ts';
import { changeAccount } from '../account/accounts.ts';
import type { Caller } from '../account/caller.ts';
import { changesBetween, type Changes } from '../audit/changes.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { notFound, overLimit, quote } from '../error/httpError.ts';
import type { Message } from '../message/message.ts';
import { dayMs, now } from '../shared/clock.ts';
import type { HoldAnswer } from '../wire/holdAnswers.ts';
import { readHeld, readHold } from '../wire/holds.ts';
import { holdLane, isLineEmpty, waitingIn } from './lane.ts';
import { held, heldIn, holdName, holdsOf, isHeld, released } from './rules/hold.ts';
import { changeOrRefuse, type ChangedLane } from './slots/changeOrRefuse.ts';
import { loadLane } from './store/laneRows.ts';

/** Each request reads the account's row, which has the holds' names. */
const mostHolds = 100;
/** After a hold, attempts still ask its lane for this long, so that those that waited go first. */
const drainMs = dayMs;

type HeldKind = HoldAnswer['kind'];
type HoldRow = NonNullable<Account['holds']>[number];

/**
 * Changes the holds in the account's row.
 *
 * @param to returns undefined for no change
 * @throws HttpError from `to`, or 503
 */
const changeRow = (
  account: Account,
  to: (holds: readonly HoldRow[], version: number) => readonly HoldRow[] | undefined,
): Promise<Account> =>
  changeAccount(account, ({ holds = [], version }) => {
    const after = to(holds, version + 1);
    return after && { holds: after.length === 0 ? undefined : [...after] };
  });

const changesOf = ({ before, after }: ChangedLane): Changes => {
  const [was, is] = [before.hold, after.hold].map((hold) => ({
    held: hold !== undefined,
    reason: hold?.reason,
    until: hold?.until === undefined ? undefined : new Date(hold.until).toISOString(),
  }));
  return changesBetween(was, is);
};

/**
 * Holds deliveries, or changes the reason and the end of a hold.
 *
 * @throws HttpError 400, 412 or 503
 */
export async function hold(
  { account, named }: Pick<Caller, 'account' | 'named'>,
  kind: HeldKind,
  which: string,
  body: Uint8Array,
): Promise<Changes> {
  const name = holdName(kind, readHeld(kind, which));
  const settings = readHold(body);
  const { version } = await changeRow(account, (holds, next) => {
    const others = holds.filter((one) => one.name !== name && (one.until ?? Infinity) > now());
    if (others.length >= mostHolds) {
      throw overLimit(
        'hold_limit_reached',
        `The hold would be number ${others.length + 1}, but an account may have ${mostHolds} holds, and those that ended within the last day count.`,
      );
    }
    return [...others, { name, version: next, until: settings.until && settings.until + drainMs }];
  });
  const by = named?.id ?? 'token';
  return changesOf(
    await changeOrRefuse(holdLane(account.id, name), (lane, time) =>
      held(lane, { ...settings, by, version }, time),
    ),
  );
}

/**
 * Ends a hold. Its attempts start a few at a time.
 *
 * @throws HttpError 400, 404 or 503
 */
export async function release(account: Account, kind: HeldKind, which: string): Promise<Changes> {
  const name = holdName(kind, readHeld(kind, which));
  const changed = await changeOrRefuse(holdLane(account.id, name), (lane) => {
    if (lane.hold !== undefined) return released(lane);
    throw notFound(
      'hold_not_found',
      `There is no hold of ${kind === 'account' ? 'the account' : quote(which)}.`,
    );
  });
  const { before, after } = changed;
  const until = isLineEmpty(after) ? undefined : now() + drainMs;
  // If the version has changed, a new hold has begun. An entry that is not removed costs only reads of its
  // lane.
  await logAndContinue(
    changeRow(account, (holds) => {
      const own = holds.find((one) => one.name === name && one.version === before.hold?.version);
      return (
        own && holds.flatMap((one) => (one !== own ? [one] : until === undefined ? [] : [{ ...one, until }]))
      );
    }),
  );
  return changesOf(changed);
}

export async function listHolds({ id, holds = [] }: Pick<Account, 'id' | 'holds'>): Promise<HoldAnswer[]> {
  const lanes = await Promise.all(holds.map(({ name }) => loadLane(holdLane(id, name))));
  return lanes.flatMap((lane): HoldAnswer[] => {
    if (lane?.hold === undefined || !isHeld(lane, now())) return [];
    const { by, since, reason, until } = lane.hold;
    return [{ ...heldIn(lane.name), by, since, reason, until, waiting: waitingIn(lane) }];
  });
}

/** @returns undefined if no hold concerns the message */
export async function holdsOfMessage(account: Account, message: Message) {
  const names = new Set(holdsOf(message, account, now()));
  const holds = await listHolds({
    id: account.id,
    holds: account.holds?.filter(({ name }) => names.has(name)),
  });
  return holds.length === 0 ? undefined : holds;
}

/** Whether deliveries are held, at one time: each hold is read at most once. */
export class HoldsNow {
  /** Whether one of the deliveries asked about is held. */
  foundAny = false;
  readonly #account: Account;
  readonly #read = new Map<string, boolean>();

  constructor(account: Account) {
    this.#account = account;
  }

  async concern(delivered: Parameters<typeof holdsOf>[0]): Promise<boolean> {
    for (const name of holdsOf(delivered, this.#account, now())) {
      if (!this.#read.has(name)) {
        const lane = await loadLane(holdLane(this.#account.id, name));
        this.#read.set(name, lane !== undefined && isHeld(lane, now()));
      }
      if (this.#read.get(name) === true) return (this.foundAny = true);
    }
    return false;
  }
}
