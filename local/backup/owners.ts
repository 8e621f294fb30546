/** Finds the account of a line in a backup. */
import * as z from 'zod/mini';
import type { Value } from '../dynamodb/values.ts';
import { jsonOrUndefined } from '../json.ts';
import type { Store } from '../store/store.ts';
import { contentsOf, type Line } from './contents.ts';

const textOf = (value: Value | undefined): string | undefined =>
  value !== undefined && 'S' in value ? value.S : undefined;

const accountId = z.uuid();
const job = z.object({ accountId });

/** The account's id; or the id of a message or of a schedule's save, whose account is in other rows. */
interface Owner {
  readonly accountId?: string;
  readonly id?: string;
}

/** Removes the number of an attempt or a version. */
const baseOf = (id: string): string => id.split('~', 1).join('');

export function ownerOf(line: Line): Owner {
  if ('row' in line) return ownerOfRow(line.row);
  if ('object' in line) return accountIn(line.object.key.split('/').slice(1, 2));
  const text = 'message' in line ? line.message.body : line.schedule.settings.Target.Input;
  return job.safeParse(jsonOrUndefined(text ?? '')).data ?? {};
}

function ownerOfRow({ table, item }: Extract<Line, { row: unknown }>['row']): Owner {
  const [partition = '', sort = ''] = table.keyNames.map((name) => textOf(item[name]) ?? '');
  const parts = partition.split(/[#/]/);
  const id = baseOf(textOf(item['messageId']) ?? parts[1] ?? '');
  // The alarms of all accounts share a partition, so the account is in the sort key.
  const found = accountIn([...parts.slice(0, 2), ...(partition === 'alarms#all' ? [sort] : [])]);
  return found.accountId === undefined ? { id } : found;
}

function accountIn(texts: readonly string[]): Owner {
  const found = texts.find((text) => accountId.safeParse(text).success);
  return found === undefined ? {} : { accountId: found };
}

/** The ids by which other rows are recognized as the account's. */
function idsOf(line: Line): readonly string[] {
  if (!('row' in line)) return [];
  const { table, item } = line.row;
  const names = ['messageId', 'saveId', ...(table.name === 'messages' ? ['id'] : [])];
  return names.flatMap((name) => textOf(item[name]) ?? []).map(baseOf);
}

export function* linesOfAccount(id: string, store: Store): Generator<Line> {
  const ids = new Set<string>();
  for (const line of contentsOf(store)) {
    if (ownerOf(line).accountId !== id) continue;
    for (const own of idsOf(line)) ids.add(own);
  }
  for (const line of contentsOf(store)) {
    const owner = ownerOf(line);
    if (owner.accountId === id || (owner.id !== undefined && ids.has(owner.id))) yield line;
  }
}
