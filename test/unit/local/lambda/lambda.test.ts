import { afterEach, describe, expect, it } from 'vitest';
import { toFunction } from '../../../../local/lambda/lambda.ts';
import { takeOverClock } from '../../../support/testClock.ts';

const endings: (() => void)[] = [];
afterEach(() => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) end();
});

const functionOf = (handler: Parameters<typeof toFunction>[1], timeoutMs: number) =>
  toFunction('publish', handler, { region: 'eu-central-1', timeoutMs });

describe('an invocation', () => {
  it('that exceeds its function’s timeout fails in Lambda’s words', async () => {
    const { invoke } = functionOf(() => new Promise(() => undefined), 20);
    await expect(invoke({})).rejects.toThrow(/^Task timed out after 0.02 seconds$/);
  });

  it.each([
    ['answers', () => 'late'],
    [
      'fails',
      () => {
        throw new Error('late');
      },
    ],
  ])('that %s after that is ignored', async (_, end) => {
    let go = (): void => undefined;
    const waits = new Promise<void>((resolve) => (go = resolve));
    const work = waits.then(end);
    const { invoke } = functionOf(() => work, 20);
    await expect(invoke({})).rejects.toThrow('Task timed out');
    go();
    await Promise.allSettled([work]);
  });

  it('is not ended by a jump of the test clock', async () => {
    const clock = takeOverClock();
    endings.push(clock.release);
    let go = (): void => undefined;
    const waits = new Promise<void>((resolve) => (go = resolve));
    const { invoke } = functionOf(() => waits.then(() => 'done'), 60_000);
    const invocation = invoke({});
    clock.moveTo(Date.now() + 24 * 60 * 60_000);
    go();
    expect(await invocation).toBe('done');
  });
});
