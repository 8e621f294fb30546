import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { scheduleFires } from '../wire/cronAnswers.ts';
import { cached } from '../shared/cached.ts';
import { minuteMs } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver } from '../message/message.ts';
import type { Account } from '../account/account.ts';
import type { Schedule } from './schedule.ts';
import { lastFires, loadSchedule } from './rows.ts';
import { noSuchSchedule } from './wholeSchedule.ts';
import { loadMessage } from '../message/history.ts';

type States = NonNullable<Answer<typeof answers.schedule>['lastScheduleStates']>;
type State = States[string];

/**
 * The state of a message, by `<account>/<message>`. Final states are cached.
 *
 * @returns undefined if the message's row has expired
 */
const stateOf = cached(10 * minuteMs, readState, (state) => state !== 'IN_PROGRESS');

async function readState(key: string): Promise<State | undefined> {
  const [accountId = '', messageId = ''] = key.split('/');
  const history = await loadMessage({ accountId, messageId });
  if (history === undefined) return undefined;
  if (!isOver(history)) return 'IN_PROGRESS';
  return history.end === undefined && history.attempts.at(-1)?.state === 'DELIVERED' ? 'SUCCESS' : 'FAIL';
}

/** How many messages of one fire are read at once. */
const statesAtOnce = 10;

export async function statesOf(accountId: string, messageIds: readonly string[]): Promise<States> {
  const states = new Map<string, State>();
  await eachOf(messageIds, statesAtOnce, async (messageId) => {
    const state = await stateOf(`${accountId}/${messageId}`);
    if (state !== undefined) states.set(messageId, state);
  });
  return Object.fromEntries(states);
}

export async function lastStates({ accountId, lastFire }: Schedule): Promise<States | undefined> {
  if (lastFire === undefined) return undefined;
  // A fire without messages has an error instead of states.
  return lastFire.error === undefined
    ? statesOf(accountId, lastFire.messageIds)
    : { [lastFire.error]: 'FAIL' };
}

type Fire = Answer<typeof scheduleFires>['fires'][number];

const mostFires = 10;
/** How many messages are read for all fires together. A fire to a URL group may have a hundred. */
const mostStates = 50;

/**
 * A schedule's last fires, newest first.
 *
 * @throws HttpError 404
 */
export async function getFires(
  { id: accountId }: Account,
  scheduleId: string,
): Promise<Answer<typeof scheduleFires>> {
  const schedule = await loadSchedule(accountId, scheduleId);
  if (schedule === undefined) throw noSuchSchedule(scheduleId);
  const handled = await lastFires(accountId, scheduleId, mostFires);
  const { lastFire } = schedule;
  // A fire that was given up is not among the handled ones. Only the schedule's row has it.
  const isListed = lastFire === undefined || handled.some(({ time }) => time === lastFire.time);
  const all = isListed
    ? handled
    : [...handled, lastFire].sort((one, other) => other.time - one.time).slice(0, mostFires);

  let left = mostStates;
  const fires: Fire[] = [];
  for (const { time, messageIds, error } of all) {
    const read = messageIds?.slice(0, left) ?? [];
    left -= read.length;
    fires.push({
      time,
      messages: messageIds?.length,
      states: read.length === 0 ? undefined : await statesOf(accountId, read),
      error,
    });
  }
  return { fires };
}
