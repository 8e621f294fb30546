import { describe, expect, it } from 'vitest';
import { Death, declareFault, type Fate, fateAt, makeUnder } from '../support/faults.ts';

async function callTogether(fate: Fate, count: number): Promise<readonly string[]> {
  const answers: (() => void)[] = [];
  const outcomes = Array.from({ length: count }, (_, index) =>
    makeUnder(fate, `call ${index + 1}`, () => new Promise<void>((resolve) => answers.push(resolve))),
  );
  const settled = Promise.allSettled(outcomes);
  for (const answer of answers.toReversed()) {
    answer();
    await new Promise(setImmediate);
  }
  return (await settled).map(({ status }) => status);
}

describe('simultaneous calls', () => {
  it('get no answer after their process has died, and are no longer made', async () => {
    const fate = fateAt({ call: 2, when: 'after' });
    // The third call is answered before the death. The first would be answered later.
    expect(await callTogether(fate, 3)).toEqual(['rejected', 'rejected', 'fulfilled']);
    let isMade = false;
    const later = makeUnder(fate, 'later', async () => {
      isMade = true;
      return Promise.resolve();
    });
    await expect(later).rejects.toThrow(Death);
    expect(isMade).toBe(false);
  });
});

it.fails('a test whose fault does not happen fails', () => {
  declareFault('nobody is there');
});

it.fails('a test whose death does not happen fails', () => {
  fateAt({ call: 1, when: 'before' });
});
