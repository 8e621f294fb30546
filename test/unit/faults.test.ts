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

/** The faults of other tests come, and a test whose fault does not come fails. */

const each = { ordinary: 1, thorough: 1 };

/** Makes calls at the same time, of which the first is answered last. */
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

describe('calls that are made at the same time', () => {
  const came: string[] = [];

  itAtEachDeath(
    'each have their deaths',
    async (fate) => {
      await callTogether(fate, 3);
      if (fate.hasCome) came.push(fate.text);
    },
    { every: each },
  );

  it('have had all of them', () => {
    expect(came.toSorted()).toEqual(
      [1, 2, 3]
        .flatMap((call) => ['after', 'before'].map((when) => `${when} call ${call}, call ${call}`))
        .toSorted(),
    );
  });

  it('see no answer of a process that has died, and are not made any more', async () => {
    const fate = fateAt({ call: 2, when: 'after' });
    // The third is answered before the process dies; the first would be answered later.
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

describe('a way that makes fewer calls the more often it is gone', () => {
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

  it('has met twelve', () => {
    expect(deaths).toBe(12);
  });
});

it('a call that fails has a death after it as well', async () => {
  const fate = fateAt({ call: 1, when: 'after' });
  const refused = makeUnder(fate, 'call', () => Promise.reject(new Error('refused')));
  await expect(refused).rejects.toThrow(Death);
});

it('a call that the process survives is the only one that fails', async () => {
  const fate = fateAt({ call: 1, when: 'before', survived: true });
  await expect(makeUnder(fate, 'call', () => Promise.resolve(1))).rejects.toThrow(Death);
  expect(await makeUnder(fate, 'call', () => Promise.resolve(2))).toBe(2);
});

it('kinds of faults that never came are named', () => {
  const faults = new Tally(['death', 'delay']);
  faults.count('death');
  expect([faults.text, faults.missing]).toEqual(['death 1, delay 0', ['delay']]);
});

it.fails('a test whose fault does not come fails', () => {
  declareFault('nobody is there');
});

it.fails('a test whose death does not come fails', () => {
  fateAt({ call: 1, when: 'before' });
});
