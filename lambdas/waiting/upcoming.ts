import type { Account } from '../account/account.ts';
import { placeAt, show } from '../list/pages.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { listedRecord } from '../message/records.ts';
import { now, secondMs } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import type { Place } from '../table/cursor.ts';
import { byOrder, isBehind, type Ordered } from '../table/shards.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { longestPage, type Filter } from '../wire/filters.ts';
import { wantedOf } from './count.ts';
import { openMessagesOf } from './openMessages.ts';

const order = 'earliestFirst';
const readingMs = 4 * secondMs;
const loadingMs = 10 * secondMs;
const loadedAtOnce = 10;

/** Counts times in equal parts of a period. Both ends of the period are included. */
function stepsOf(times: readonly number[], from: number, to: number, steps: number) {
  const length = to - from + 1;
  const counts = Array.from({ length: steps }, (_, step) => ({
    from: from + Math.ceil((step * length) / steps),
    count: 0,
  }));
  for (const time of times) {
    const step = counts[Math.floor(((time - from) * steps) / length)];
    if (step !== undefined) step.count += 1;
  }
  return counts;
}

/**
 * Lists the messages that have not ended, by the time at which they are due. The messages of a page are read
 * again, strongly consistent, so that no page shows one that has ended or was moved.
 *
 * @throws HttpError 400 for a cursor of another list
 */
export async function listUpcoming(
  account: Account,
  filter: Filter,
  { fromDate: from = 0, toDate: to = Infinity, steps }: NonNullable<Filter['due']>,
): Promise<Answer<typeof answers.messagePage>> {
  const scope = `${account.id}/upcoming`;
  const behind = await placeAt(scope, filter.cursor);
  const messages = openMessagesOf(account);
  const isWhole = await messages.catchUp(now() + readingMs);
  const found = (): readonly Ordered[] =>
    [...wantedOf(messages, filter)]
      .map(([id, { dueAt }]) => ({ id, time: dueAt }))
      .filter(({ time }) => time >= from && time <= to);
  const count = filter.count ?? longestPage;
  const histories = new Map<string, MessageHistory | undefined>();
  const until = now() + loadingMs;
  let page: readonly Ordered[];
  for (;;) {
    page = found()
      .filter((row) => isBehind(row, { behind, order }))
      .sort(byOrder(order))
      .slice(0, count + 1);
    const unread = page.filter(({ id }) => !histories.has(id));
    if (unread.length === 0 || now() > until) break;
    await eachOf(unread, loadedAtOnce, async ({ id }) => {
      const history = await loadMessage({ accountId: account.id, messageId: id });
      histories.set(id, history);
      messages.correct(id, history);
    });
  }
  // If the time was too short, the page ends before the first message that was not read.
  const unread = page.findIndex(({ id }) => !histories.has(id));
  const entries = page.slice(0, unread === -1 ? count : Math.min(unread, count)).flatMap((place) => {
    const entry = histories.get(place.id);
    return entry === undefined ? [] : [{ entry, place }];
  });
  const last: Place = entries.at(-1)?.place ?? behind ?? { time: 0, id: '-' };
  const next = page.length > entries.length ? last : undefined;
  const { records, cursor } = await show(scope, entries, next, listedRecord);
  const due = found();
  return {
    messages: records,
    cursor,
    isWhole,
    ...(isWhole && {
      count: due.length,
      steps:
        steps === undefined
          ? undefined
          : stepsOf(
              due.map(({ time }) => time),
              from,
              to,
              steps,
            ),
    }),
  };
}
