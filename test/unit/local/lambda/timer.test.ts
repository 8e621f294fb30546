import { afterEach, describe, expect, it, vi } from 'vitest';
import { startTimer } from '../../../../local/lambda/timer.ts';

afterEach(() => {
  vi.useRealTimers();
});

function started() {
  vi.useFakeTimers();
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const reported: unknown[] = [];
  const timer = startTimer({
    function: {
      name: 'countOutcomes',
      invoke: () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
    },
    everyMs: 1_000,
    report: (error) => reported.push(error),
  });
  return { timer, ends, reported };
}

describe('a timer', () => {
  it('invokes its function at once, and then after each period', async () => {
    const { ends } = started();
    expect(ends).toHaveLength(1);
    ends[0]?.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ends).toHaveLength(2);
  });

  it('does not invoke it during another invocation, and continues after a failure', async () => {
    const { ends, reported } = started();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(ends).toHaveLength(1);
    const error = new Error('It failed.');
    ends[0]?.reject(error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([reported, ends.length]).toEqual([[error], 2]);
  });

  it('waits for the invocation in flight when it is stopped, and starts no other', async () => {
    const { timer, ends } = started();
    let isStopped = false;
    const stop = timer.stop(new AbortController().signal).then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(2_000);
    expect([isStopped, ends.length]).toEqual([false, 1]);
    ends[0]?.resolve();
    await stop;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ends).toHaveLength(1);
  });

  it('waits no longer than its limit', async () => {
    const { timer } = started();
    await expect(timer.stop(AbortSignal.abort())).resolves.toBeUndefined();
  });
});
