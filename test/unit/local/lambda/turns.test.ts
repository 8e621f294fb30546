import { expect, it } from 'vitest';
import { inTurns } from '../../../../local/lambda/turns.ts';

function start(most: number) {
  const running: {
    readonly event: unknown;
    readonly end: () => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const { invoke } = inTurns(
    {
      name: 'slow',
      invoke: (event) =>
        new Promise((resolve, reject) => {
          running.push({
            event,
            end: () => {
              resolve(event);
            },
            fail: reject,
          });
        }),
    },
    most,
  );
  return { running, invoke, events: () => running.map(({ event }) => event) };
}

it('runs the allowed number at once, and the others in order', async () => {
  const { running, invoke, events } = start(2);
  const calls = ['a', 'b', 'c', 'd'].map((event) => invoke(event));
  await Promise.resolve();
  expect(events()).toEqual(['a', 'b']);
  running[1]?.end();
  expect(await calls[1]).toBe('b');
  expect(events()).toEqual(['a', 'b', 'c']);
  for (const at of [0, 2]) {
    running[at]?.end();
    await calls[at];
  }
  expect(events()).toEqual(['a', 'b', 'c', 'd']);
  running[3]?.end();
  await calls[3];
});

it('gives a failed invocation’s turn to the next', async () => {
  const { running, invoke, events } = start(1);
  const first = invoke('a');
  const second = invoke('b');
  await Promise.resolve();
  running[0]?.fail(new Error('It failed.'));
  await expect(first).rejects.toThrow('It failed.');
  expect(events()).toEqual(['a', 'b']);
  running[1]?.end();
  expect(await second).toBe('b');
  const third = invoke('c');
  await Promise.resolve();
  running[2]?.end();
  expect(await third).toBe('c');
});
