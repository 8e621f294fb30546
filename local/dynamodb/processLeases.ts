import { processLeases, startsPrefix, type TableName } from '../../lambdas/aws/resources.ts';
import { behindAll } from './keys.ts';
import type { Rows } from './rows.ts';
import { keyOf, tableNamed } from './table.ts';
import type { Item } from './values.ts';

const lanes: TableName = 'lanes';
const usage: TableName = 'usage';

/** Removes the starts of jobs that ended with the stage, because these jobs did not kill their workers. */
export async function forgetStarts(rows: Rows): Promise<void> {
  const table = tableNamed(usage);
  const started = [...rows.range(table.prefix, behindAll(table.prefix))].filter(
    ({ owner }) => owner !== undefined && 'S' in owner && owner.S.startsWith(startsPrefix),
  );
  await Promise.all(started.map((row) => rows.change(table, keyOf(table, row), () => undefined)));
}

/**
 * Frees the slots that killed processes hold in lanes. Slots of attempts stay, because their jobs are
 * redelivered.
 */
export async function endProcessLeases(rows: Rows): Promise<void> {
  const table = tableNamed(lanes);
  const held: Item[] = [];
  for (const row of rows.range(table.prefix, behindAll(table.prefix))) {
    if (Object.hasOwn(row, processLeases)) held.push(row);
  }
  await Promise.all(held.map((row) => rows.change(table, keyOf(table, row), withoutLeases)));
}

function withoutLeases(row: Item | undefined): Item | undefined {
  if (row === undefined) return undefined;
  const { [processLeases]: _ended, ...left } = row;
  return left;
}
