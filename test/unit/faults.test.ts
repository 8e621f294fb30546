import { describe, expect, it } from 'vitest';
import {
  Death,
  declareFault,
  type Fate,
  fateAt,
  itAtEachDeath,
  makeUnder,
  Tally,
} from '../support/faults.ts';

const each = { ordinary: 1, thorough: 1 };

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
  const came: string[] = [];

  itAtEachDeath(
    'each have their deaths',
    async (fate) => {
      await callTogether(fate, 3);
      if (fate.hasCome) came.push(fate.text);
    },
    { every: each },
  );

  it('have each had a death before and after', () => {
    expect(came.toSorted()).toEqual(
      [1, 2, 3]
        .flatMap((call) => ['after', 'before'].map((when) => `${when} call ${call}, call ${call}`))
        .toSorted(),
    );
  });

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

describe('a test that makes fewer calls each time', () => {
  let times = 0;
  let deaths = 0;

  itAtEachDeath(
    'meets each death all the same',
    async (fate) => {
      const count = Math.max(1, 6 - times);
      times += 1;
      for (let call = 0; call < count; call += 1) {
        await makeUnder(fate, 'call', () => Promise.resolve()).catch(() => undefined);
      }
      if (fate.hasCome) deaths += 1;
    },
    { every: each },
  );

  it('has had twelve deaths', () => {
    expect(deaths).toBe(12);
  });
});

it('a call that fails is also followed by a death', async () => {
  const fate = fateAt({ call: 1, when: 'after' });
  const refused = makeUnder(fate, 'call', () => Promise.reject(new Error('refused')));
  await expect(refused).rejects.toThrow(Death);
});

it('a call that the process survives is the only one that fails', async () => {
  const fate = fateAt({ call: 1, when: 'before', survived: true });
  await expect(makeUnder(fate, 'call', () => Promise.resolve(1))).rejects.toThrow(Death);
  expect(await makeUnder(fate, 'call', () => Promise.resolve(2))).toBe(2);
});

it('kinds of faults that never happened are named', () => {
  const faults = new Tally(['death', 'delay']);
  faults.count('death');
  expect([faults.text, faults.missing]).toEqual(['death 1, delay 0', ['delay']]);
});

it.fails('a test whose fault does not happen fails', () => {
  declareFault('nobody is there');
});

it.fails('a test whose death does not happen fails', () => {
  fateAt({ call: 1, when: 'before' });
});
