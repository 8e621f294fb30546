import type { Account } from '../account/account.ts';
import { merged } from '../list/pages.ts';
import { limitedScan } from '../list/scans.ts';
import { isMark, listLate, listPrompt, type LogRow, type Mark } from '../message/log.ts';
import { timeOfId } from '../shared/ids.ts';
import { isNewer, shardsOf } from '../table/shards.ts';
import { matches, mayMatch, type Filter } from '../wire/filters.ts';

const nameOf = ({ id }: Pick<LogRow, 'id'>): string => id.replace(/~.*$/, '');

/**
 * Selects deliveries by time. Messages that were published after the period are left out, because this
 * operation may have made them, and clocks differ.
 */
export function deliveries(account: Account, filter: Filter) {
  const { toDate = Infinity } = filter;
  const shards = shardsOf(account).flatMap((shard) => [listLate(shard, filter), listPrompt(shard, filter)]);
  const selected = (row: LogRow | Mark): unknown =>
    !isMark(row) &&
    row.textsOf?.('state').includes('DELIVERED') === true &&
    timeOfId(nameOf(row)) <= toDate &&
    mayMatch(filter, (name) => row.textsOf?.(name)) &&
    matches(filter, row.subject)
      ? row
      : undefined;
  return { rows: limitedScan(account.id, merged(shards, isNewer)), selected, nameOf };
}
