import { expect, test } from 'vitest';
import type { Answer } from '../../../../local/dynamodb/connection.ts';
import { Holdable } from '../../../../local/dynamodb/hold.ts';

const answer: Answer = { status: 200, body: new Uint8Array() };
const call = { operation: 'PutItem', body: '{}' };

test('a hold waits for the calls under way, and others wait for its end', async () => {
  const done: string[] = [];
  const open: (() => void)[] = [];
  const held = new Holdable(
    () =>
      new Promise((resolve) => {
        open.push(() => {
          resolve(answer);
        });
      }),
  );
  const note = (what: string) => (): void => void done.push(what);
  const first = held.send(call).then(note('first'));
  await Promise.resolve();
  const holding = held.hold();
  const second = held.send(call).then(note('second'));
  expect(open.length).toBe(1);
  open[0]?.();
  const release = await holding;
  await first;
  expect([done, open.length]).toEqual([['first'], 1]);
  release();
  await expect.poll(() => open.length, { timeout: 5_000 }).toBe(2);
  open[1]?.();
  await second;
  expect(done).toEqual(['first', 'second']);
});

test('a call that fails ends, too', async () => {
  const held = new Holdable(() => Promise.reject(new Error('away')));
  await expect(held.send(call)).rejects.toThrow('away');
  const release = await held.hold();
  release();
});
