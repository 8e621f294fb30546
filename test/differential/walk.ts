/** Answers to the steps of a sequence: calls, and reads of all pages. */
import * as z from 'zod/mini';
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { answerOf, comparable, refusalOf } from './answers.ts';
import type { Database } from './databases.ts';
import type { Step, Walk } from './generateRows.ts';

const page = z.object({
  Items: z.optional(z.array(z.record(z.string(), z.unknown()))),
  Count: z.number(),
  ScannedCount: z.number(),
  LastEvaluatedKey: z.optional(z.unknown()),
  ConsumedCapacity: z.optional(z.unknown()),
});
type Page = z.infer<typeof page>;

/** More pages than any read has. */
const mostPages = 200;

/** The answer to a step; the answer to a write between pages comes second. */
export const answersOfStep = async (database: Database, step: Step): Promise<readonly string[]> =>
  'isWalk' in step ? answersOfWalk(database, step) : [orderless(step, await answerOf(database, step))];

/** The rows after a Scan's cursor depend on the order of partitions, which is undefined. */
const orderless = ({ operation, input }: Step, answer: string): string =>
  operation === 'Scan' && input['ExclusiveStartKey'] !== undefined && answer.startsWith('{')
    ? 'accepted'
    : answer;

async function answersOfWalk(database: Database, walk: Walk): Promise<readonly string[]> {
  const pages: Page[] = [];
  const between: string[] = [];
  try {
    let ExclusiveStartKey: unknown;
    do {
      const input = { ...walk.input, ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }) };
      const answer = page.parse(await database.call(walk.operation, input));
      pages.push(answer);
      ExclusiveStartKey = answer.LastEvaluatedKey;
      if (pages.length > mostPages) return ['The pages have no end.', ...between];
      if (pages.length === 1 && walk.between !== undefined) {
        between.push(await answerOf(database, walk.between));
      }
    } while (ExclusiveStartKey !== undefined);
  } catch (error) {
    return [refusalOf(error), ...between];
  }
  return [JSON.stringify(isOrdered(walk) ? pages.map(ordered) : together(walk, pages)), ...between];
}

/** Whether the rows have a defined order: those of a partition do, those of an index with equal sort keys don't. */
const isOrdered = ({ operation, input }: Walk): boolean =>
  operation === 'Query' && input['IndexName'] === undefined;

const ordered = ({ Items, ...rest }: Page): unknown => [record(rest), Items?.map(record)];
const record = (value: unknown): unknown => comparable(value);

/** Joins all pages. A Query of an index is ordered by its sort keys. */
function together({ operation, input }: Walk, pages: readonly Page[]): unknown {
  const items = pages.flatMap(({ Items = [] }) => Items);
  const sortKey = Object.values<TableShape>(tables)
    .flatMap(({ indexes }) => indexes)
    .find(({ name }) => name === input['IndexName'])?.sortKey;
  return {
    Count: sum(pages, ({ Count }) => Count),
    ScannedCount: sum(pages, ({ ScannedCount }) => ScannedCount),
    rows: items.map((item) => JSON.stringify(record(item))).toSorted(),
    ...(operation === 'Query' && sortKey !== undefined && { order: items.map((item) => item[sortKey]) }),
    ...(pages.length === 1 && { capacity: record(pages[0]?.ConsumedCapacity) }),
  };
}

const sum = (pages: readonly Page[], of: (page: Page) => number): number =>
  pages.reduce((total, one) => total + of(one), 0);
