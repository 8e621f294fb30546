import { expect, it } from 'vitest';
import type { Answer, Call } from '../../../../local/dynamodb/connection.ts';
import { knownAccounts } from '../../../../local/dynamodb/knownAccounts.ts';

/** A database whose answers the test gives: only so can a write come in the middle of a read. */
function start() {
  const asked: { readonly call: Call; readonly give: (text: string, status?: number) => void }[] = [];
  const send = knownAccounts(
    (call) =>
      new Promise<Answer>((resolve) => {
        asked.push({
          call,
          give: (text, status = 200) => {
            resolve({ status, body: Buffer.from(text) });
          },
        });
      }),
  );
  return {
    asked,
    call: async (operation: string, table: string, key = 'a'): Promise<string> => {
      const { body } = await send({
        operation,
        body: JSON.stringify({ TableName: table, Key: { id: key } }),
      });
      return Buffer.from(body).toString();
    },
  };
}

it('asks the database once for an account that does not change', async () => {
  const { asked, call } = start();
  const first = call('GetItem', 'accounts');
  asked[0]?.give('one');
  expect([await first, await call('GetItem', 'accounts'), asked.length]).toEqual(['one', 'one', 1]);
});

it('asks for each account, and for rows of other tables each time', async () => {
  const { asked, call } = start();
  for (const [table, key] of [
    ['accounts', 'a'],
    ['accounts', 'b'],
    ['messages', 'a'],
    ['messages', 'a'],
  ] as const) {
    const answer = call('GetItem', table, key);
    asked.at(-1)?.give('x');
    await answer;
  }
  expect(asked).toHaveLength(4);
});

it.each(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'])(
  'asks again after %s',
  async (write) => {
    const { asked, call } = start();
    const old = call('GetItem', 'accounts');
    asked[0]?.give('old');
    await old;
    const writing = call(write, 'accounts');
    asked[1]?.give('{}');
    await writing;
    const read = call('GetItem', 'accounts');
    asked[2]?.give('new');
    expect(await read).toBe('new');
  },
);

it.each([
  ['that a write overtook', ['GetItem', 'PutItem'], 0],
  ['that came while a write was under way', ['PutItem', 'GetItem'], 1],
] as const)('keeps no answer to a read %s', async (_title, [first, second], read) => {
  const { asked, call } = start();
  const calls = [call(first, 'accounts'), call(second, 'accounts')];
  // The second is answered first.
  for (const at of [1, 0]) {
    asked[at]?.give(at === read ? 'old' : '{}');
    await calls[at];
  }
  const next = call('GetItem', 'accounts');
  asked[2]?.give('new');
  expect(await next).toBe('new');
});

it('asks again after a failure', async () => {
  const { asked, call } = start();
  const failed = call('GetItem', 'accounts');
  asked[0]?.give('failed', 500);
  await failed;
  const next = call('GetItem', 'accounts');
  asked[1]?.give('right');
  expect(await next).toBe('right');
});
