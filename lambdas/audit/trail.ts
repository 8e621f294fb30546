import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import type { Account } from '../account/account.ts';
import { badField, quote } from '../error/httpError.ts';
import { minuteMs } from '../shared/clock.ts';
import { auditActions, type AuditAction } from '../wire/auditActions.ts';
import { isBehind } from '../table/shards.ts';
import { limitedScan } from '../list/scans.ts';
import { listBudgetMs, pageOf, placeAt, show } from '../list/pages.ts';
import { longestPage } from '../wire/filters.ts';
import { checkPeriod, latestDateMs, wholeOf } from '../wire/queryReader.ts';
import { listEntries, type AuditRow } from './store/entries.ts';

export const trailParameters = [
  'fromDate',
  'toDate',
  'actor',
  'action',
  'subject',
  'cursor',
  'count',
] as const;

type TrailQuery = { readonly [Name in (typeof trailParameters)[number]]?: string };

const textsIn = (text: string | undefined): readonly string[] | undefined =>
  text?.split(',').map((one) => one.trim());

const entryOf = ({
  time,
  actor,
  action,
  subject,
  address,
  count,
  changes = [],
  number,
}: AuditRow): Answer<typeof answers.auditEntry> => ({
  time,
  actor,
  action,
  subject,
  address,
  ...(count > 1 && { count }),
  number,
  ...(changes.length > 0 && { changes: [...changes] }),
});

export async function readTrail(
  account: Account,
  query: TrailQuery,
): Promise<Answer<typeof answers.auditPage>> {
  const moment = (name: 'fromDate' | 'toDate'): number | undefined => {
    const text = query[name];
    return text === undefined ? undefined : wholeOf(name, text, 0, latestDateMs);
  };
  const period = { fromDate: moment('fromDate'), toDate: moment('toDate') };
  checkPeriod(period);
  const count = query.count === undefined ? longestPage : wholeOf('count', query.count, 1, longestPage);
  const [actors, actions] = [textsIn(query.actor), textsIn(query.action)];
  const unknown = actions?.find((one) => !auditActions.some((known) => known === one));
  if (unknown !== undefined)
    throw badField(`action is ${quote(unknown)}; allowed are ${auditActions.join(', ')}.`);
  const isWanted = ({ count: times, actor, action, subject }: AuditRow): boolean =>
    times > 0 &&
    (actors === undefined || actors.includes(actor)) &&
    (actions === undefined || actions.includes(action)) &&
    (query.subject === undefined || query.subject === subject);

  const scope = `${account.id}/audit`;
  const range = { ...period, behind: await placeAt(scope, query.cursor) };
  const behind = async function* (): AsyncGenerator<AuditRow> {
    for await (const row of listEntries(account.id, range)) if (isBehind(row, range)) yield row;
  };
  const page = await pageOf(
    limitedScan(account.id, behind()),
    range,
    { count, budgetMs: listBudgetMs },
    (row) => (isWanted(row) ? [row] : []),
  );
  const { records, cursor } = await show(scope, page.entries, page.next, entryOf);
  return { cursor, entries: records };
}

/**
 * Lists the subjects of changes that were made, or are being made. A change that was repeated within a minute
 * has the time of the first.
 *
 * @param since Unix milliseconds
 */
export async function* subjectsSince(
  accountId: string,
  action: AuditAction,
  since: number,
): AsyncGenerator<string> {
  for await (const entry of listEntries(accountId, { fromDate: since - minuteMs }))
    if (entry.action === action && entry.subject !== undefined) yield entry.subject;
}
