import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { eachOf } from '../shared/lists.ts';
import { isOver } from '../message/message.ts';
import type { Schedule } from './schedule.ts';
import { loadMessage } from '../message/history.ts';

type States = NonNullable<Answer<typeof answers.schedule>['lastScheduleStates']>;
type State = States[string];

/** @returns undefined when the message's row has expired */
async function stateOf(accountId: string, messageId: string): Promise<State | undefined> {
  const history = await loadMessage({ accountId, messageId });
  if (history === undefined) return undefined;
  if (!isOver(history)) return 'IN_PROGRESS';
  return history.end === undefined && history.attempts.at(-1)?.state === 'DELIVERED' ? 'SUCCESS' : 'FAIL';
}

/** The messages of one fire whose states are read at once. */
const statesAtOnce = 10;

export async function lastStates({ accountId, lastFire }: Schedule): Promise<States | undefined> {
  if (lastFire === undefined) return undefined;
  // A fire that made no message has no states: the reason stands in their place.
  if (lastFire.error !== undefined) return { [lastFire.error]: 'FAIL' };
  const states = new Map<string, State>();
  await eachOf(lastFire.messageIds, statesAtOnce, async (messageId) => {
    const state = await stateOf(accountId, messageId);
    if (state !== undefined) states.set(messageId, state);
  });
  return Object.fromEntries(states);
}
