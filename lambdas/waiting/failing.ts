import type { Account } from '../account/account.ts';
import { FailureGroups } from '../deadLetter/failureGroups.ts';
import { countBudgetMs } from '../list/pages.ts';
import { loadAnswers } from '../message/list.ts';
import { reasonOf } from '../message/records.ts';
import { now } from '../shared/clock.ts';
import { chunksOf } from '../shared/lists.ts';
import type { Answer } from '../wire/answers.ts';
import { matches, type Filter } from '../wire/filters.ts';
import type { countedMessages } from '../wire/statsAnswers.ts';
import { ofAnswers, wantedOf } from './count.ts';
import { openMessagesOf } from './openMessages.ts';

const readAtOnce = 500;

/**
 * Counts the messages that have failed and will be retried, and groups them. Reads the last answer to each,
 * beginning with the latest failures.
 */
export async function countFailing(
  account: Account,
  filter: Filter,
): Promise<Answer<typeof countedMessages>> {
  const until = now() + countBudgetMs;
  const messages = openMessagesOf(account);
  const isWhole = await messages.catchUp(until);
  const values = new Map([...filter.values].filter(([field]) => !ofAnswers.has(field)));
  const failing = [...wantedOf(messages, { ...filter, values })]
    .filter(([, { state }]) => state === 'RETRY')
    .sort(([, one], [, other]) => other.since - one.since);
  const groups = new FailureGroups();
  let [read, count] = [0, 0];
  for (const some of chunksOf(failing, readAtOnce)) {
    if (read > 0 && now() > until) break;
    read += some.length;
    const answers = await loadAnswers(
      account.id,
      some.map(([id, { attempt }]) => [id, attempt - 1]),
    );
    for (const [messageId, { state, subject, since, failedAt = since }] of some) {
      const answer = answers.get(messageId);
      if (answer === undefined) continue;
      const failure = { responseStatus: answer.status, errorOf: () => reasonOf(answer) };
      if (!matches(filter, { ...subject, ...failure, messageId, state })) continue;
      count += 1;
      groups.add({ ...subject, shown: subject.url, answer, firstFailedAt: failedAt, lastFailedAt: since });
    }
  }
  const isRead = read === failing.length;
  const total = isRead ? count : values.size === filter.values.size ? failing.length : undefined;
  const isExact = isWhole && total !== undefined;
  return {
    ...(isExact ? { count: total } : { count: count === 0 ? undefined : count, atLeast: true }),
    ...(!isRead && { grouped: count }),
    ...groups.shown(),
  };
}
