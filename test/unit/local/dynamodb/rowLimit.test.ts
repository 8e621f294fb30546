import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { callOf, type Call } from '../../../../local/dynamodb/connection.ts';
import { limitRows, rowsPerRead } from '../../../../local/dynamodb/rowLimit.ts';
import { startInProcess } from '../../../support/inProcess.ts';

const TableName = 'deduplication';
const page = z.object({ Items: z.array(z.unknown()), LastEvaluatedKey: z.optional(z.unknown()) });

test('a table is read a thousand rows at a time, and each row once', async () => {
  const inProcess = await startInProcess();
  try {
    const { handOver } = inProcess.standIns.handOvers.get('Dynamodb') ?? {};
    if (handOver === undefined) throw new Error('The database is not dynoxide.');
    const rows = 2 * rowsPerRead + 7;
    const requests = Array.from({ length: rows }, (_, at) => ({
      PutRequest: { Item: { id: { S: `key ${at}` } } },
    }));
    for (let at = 0; at < rows; at += 25) {
      await handOver('BatchWriteItem', { RequestItems: { [TableName]: requests.slice(at, at + 25) } });
    }
    const pages: number[] = [];
    const seen = new Set<string>();
    let from: unknown;
    do {
      const read = page.parse(
        await handOver('Scan', { TableName, ...(from !== undefined && { ExclusiveStartKey: from }) }),
      );
      for (const item of read.Items) seen.add(JSON.stringify(item));
      pages.push(read.Items.length);
      from = read.LastEvaluatedKey;
    } while (from !== undefined);
    expect(pages).toEqual([rowsPerRead, rowsPerRead, 7]);
    expect(seen.size).toBe(rows);
  } finally {
    await inProcess.stop();
  }
});

test('a limit of the caller stays, and writes have none', async () => {
  const sent: string[] = [];
  const send = limitRows(({ body }: Call) => {
    sent.push(body);
    return Promise.resolve({ status: 200, body: Buffer.from('{}') });
  });
  const calls = [
    callOf('Query', { TableName, Limit: 7 }),
    callOf('PutItem', { TableName, Item: {} }),
    callOf('Query', { TableName }),
  ];
  for (const call of calls) await send(call);
  expect(sent.map((body): unknown => JSON.parse(body))).toEqual([
    { TableName, Limit: 7 },
    { TableName, Item: {} },
    { TableName, Limit: rowsPerRead },
  ]);
});
