/** Finds things of an account by a part of their names. */
import type { Account } from '../account/account.ts';
import { hostOf } from '../destination/place.ts';
import { badField, quote } from '../error/httpError.ts';
import { lanesOf } from '../lane/heldBack.ts';
import { listBudgetMs, merged } from '../list/pages.ts';
import { listMessages } from '../message/list.ts';
import { schedulesBehind } from '../schedule/rows.ts';
import { isNewer, shardsOf } from '../table/shards.ts';
import { urlGroupsBehind } from '../urlGroup/rows.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import type { Answer } from '../wire/answers.ts';
import type { foundNames } from '../wire/statsAnswers.ts';
import { newestRuns } from '../workflow/logs.ts';
import { look } from './attention.ts';

type FoundNames = Answer<typeof foundNames>;
type Found = FoundNames['results'][number];

const bounds = { mostRead: 1_000, budgetMs: listBudgetMs };
/** The most results of each kind. */
const mostFound = 10;
const longestText = 200;

const linkTo = (path: string, query: Readonly<Record<string, string | number>> = {}): string => {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(pairs);
  return `/v2/${path}${text.size === 0 ? '' : `?${text.toString()}`}`;
};
const named =
  (kind: Found['kind'], family: string) =>
  (name: string): Found => ({ kind, name, link: linkTo(`${family}/${encodeURIComponent(name)}`) });
const queue = named('queue', 'queues');
const key = named('flowControlKey', 'flowControl');
const group = named('urlGroup', 'topics');
const schedule = named('schedule', 'schedules');
const hostNamed = (host: string): Found => ({
  kind: 'host',
  name: host,
  link: linkTo('stats/hosts', { host }),
});

/** Everything that has a name: all that lists show, and that recent messages and runs have. */
const sources = (account: Account): readonly AsyncIterable<readonly Found[]>[] => [
  mapped(lanesOf(account, 'queue'), ({ name }) => [queue(name)]),
  mapped(lanesOf(account, 'key'), ({ name }) => [key(name)]),
  mapped(lanesOf(account, 'circuit'), ({ name }) => [hostNamed(name)]),
  mapped(urlGroupsBehind(account.id, undefined), ({ name }) => [group(name)]),
  mapped(schedulesBehind(account.id, undefined), ({ scheduleId }) => [schedule(scheduleId)]),
  mapped(newestRuns(account), ({ runId, createdAt, url, labels }) =>
    [runId, shownUrl(url), ...labels].map((name) => ({
      ...{ kind: 'run', name, workflowRunId: runId, workflowRunCreatedAt: createdAt },
      link: linkTo('workflows/logs', { workflowRunId: runId, workflowCreatedAt: createdAt }),
    })),
  ),
  mapped(
    merged(
      shardsOf(account).map((shard) => listMessages(shard, {})),
      isNewer,
    ),
    ({ message: { url, labels } }) => [
      hostNamed(hostOf(shownUrl(url))),
      ...labels.map((label): Found => ({
        kind: 'label',
        name: label,
        link: linkTo('messages', { label, state: 'ALL' }),
      })),
    ],
  ),
];

async function* mapped<T>(
  rows: AsyncIterable<T>,
  of: (row: T) => readonly Found[],
): AsyncGenerator<readonly Found[]> {
  for await (const row of rows) yield of(row);
}

/** Names that begin with the text come first. @throws HttpError 400 */
export async function findNames(account: Account, text: string | undefined): Promise<FoundNames> {
  const wanted = text?.trim().toLowerCase() ?? '';
  if (wanted === '' || wanted.length > longestText)
    throw badField(`q is ${quote(wanted)}; allowed is a text of 1 to ${longestText} characters.`);
  const placeIn = (name: string): number => name.toLowerCase().indexOf(wanted);
  const looked = await Promise.all(
    sources(account).map((rows) =>
      look(
        rows,
        (found) => {
          const some = found.filter(({ name }) => placeIn(name) >= 0);
          return some.length === 0 ? undefined : some;
        },
        bounds,
      ),
    ),
  );
  // If several names of a run match, only the first is shown.
  const all = looked.flatMap(({ found }) => found.flat()).reverse();
  const once = new Map(all.map((one) => [one.link, one]));
  const ordered = [...once.values()].sort(
    (one, other) =>
      Number(placeIn(one.name) > 0) - Number(placeIn(other.name) > 0) || one.name.localeCompare(other.name),
  );
  const counts = new Map<string, number>();
  const results = ordered.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= mostFound;
  });
  const isWhole = looked.every(({ isCut }) => !isCut) && results.length === ordered.length;
  return { results, isWhole };
}
