import { describe, expect, it } from 'vitest';
import {
  capacityOf,
  checkCapacity,
  checkGroup,
  checkPlace,
  entryBytes,
  recordsFor,
  sayNoCapacity,
} from '../../../../lambdas/workflow/rules/placing.ts';
import type { ListedEntry } from '../../../../lambdas/workflow/rules/journal.ts';
import type { Step } from '../../../../lambdas/workflow/rules/step.ts';

const step = (kind: Step['kind'], stepId: number, concurrent = 1): Step => ({
  kind,
  stepId,
  concurrent,
  stepName: 'step',
  stepType: 'Run',
});
const refused = expect.objectContaining({ status: 412 }) as Error;
const refusedWith = (message: string): Error => expect.objectContaining({ status: 412, message }) as Error;

describe('a submission', () => {
  it.each<[what: string, steps: readonly Step[]]>([
    ['nothing', []],
    ['one result', [step('result', 4)]],
    ['a group of one', [step('plan', 4)]],
    ['a group', [step('plan', 4, 3), step('plan', 5, 3), step('plan', 6, 3)]],
  ])('may be %s', (_, steps) => {
    expect(checkGroup.bind(undefined, steps)).not.toThrow();
  });

  it.each<[what: string, steps: readonly Step[]]>([
    ['two results', [step('result', 4), step('result', 5)]],
    ['a part of a group', [step('plan', 4, 3), step('plan', 5, 3)]],
    ['one plan of a group', [step('plan', 4, 2)]],
    ['a group out of order', [step('plan', 5, 2), step('plan', 4, 2)]],
    ['a group with a gap', [step('plan', 4, 2), step('plan', 6, 2)]],
    ['a step twice', [step('plan', 4, 2), step('plan', 4, 2)]],
  ])('may not be %s', (_, steps) => {
    expect(checkGroup.bind(undefined, steps)).toThrow(refused);
  });

  it('says which of its steps is wrong', () => {
    expect(checkGroup.bind(undefined, [step('plan', 4, 2), step('result', 5, 2)])).toThrow(
      refusedWith(
        'The 2 steps of a parallel group are submitted together and in order; item 1 is the result of step 5, one of 2.',
      ),
    );
  });
});

describe('the place of a step', () => {
  const after = (steps: Parameters<typeof checkPlace>[0]['steps']) => ({ steps });

  it.each<[Parameters<typeof after>[0], Step]>([
    [{}, step('result', 1)],
    [{ result: '1-7' }, step('result', 8)],
    [{ result: '1' }, step('plan', 2, 2)],
    [{ result: '1' }, step('plan', 3, 2)],
    [{ result: '1', plan: '2-3' }, step('result', 3, 2)],
    [{ result: '1,3', plan: '2' }, step('result', 2, 2)],
  ])('after %j may be that of %j', (steps, one) => {
    expect(checkPlace.bind(undefined, after(steps), one)).not.toThrow();
  });

  it.each<[Parameters<typeof after>[0], Step]>([
    [{}, step('result', 2)],
    [{ result: '1-7' }, step('result', 7)],
    [{ result: '1' }, step('plan', 4, 2)],
    [{ result: '1' }, step('plan', 1, 2)],
    [{ result: '1' }, step('result', 2, 2)],
  ])('after %j is not that of %j', (steps, one) => {
    expect(checkPlace.bind(undefined, after(steps), one)).toThrow(refused);
  });

  it('is known, and whether the step was planned', () => {
    expect(checkPlace.bind(undefined, after({ result: '1-7' }), step('result', 9))).toThrow(
      refusedWith('The step has the stepId 9; the next step of the run is 8.'),
    );
    expect(checkPlace.bind(undefined, after({ result: '1' }), step('result', 2, 3))).toThrow(
      refusedWith('Step 2 is one of 3 at once, but it was never planned.'),
    );
  });
});

describe('the capacity of a run', () => {
  const mebibyte = 1_024 * 1_024;
  const checkAdded = (bodyBytes: number, entries: number, added: readonly number[]) => () => {
    checkCapacity(
      { bodyBytes, entries },
      added.map((bytes) => ({ bodyBytes: bytes })),
    );
  };

  it('ends at 32 MiB of bodies', () => {
    expect(checkAdded(31 * mebibyte, 1, [mebibyte])).not.toThrow();
    expect(checkAdded(31 * mebibyte, 1, [mebibyte, 1])).toThrow(
      refusedWith(
        `The steps of the run would have ${32 * mebibyte + 1} bytes; allowed are ${32 * mebibyte}.`,
      ),
    );
    expect([0, 31, 32, 33].map((used) => capacityOf({ bodyBytes: used * mebibyte }) / mebibyte)).toEqual([
      32, 1, 0, 0,
    ]);
    expect(sayNoCapacity('The payload', 7, { bodyBytes: 32 * mebibyte - 5 })).toBe(
      `The payload has 7 bytes as JSON, but the run has room for 5: its steps may have ${32 * mebibyte} bytes together.`,
    );
  });

  it('ends at 10,000 entries', () => {
    expect(checkAdded(0, 9_999, [1])).not.toThrow();
    expect(checkAdded(0, 9_999, [1, 1])).toThrow(refusedWith('The run would have more than 10000 entries.'));
  });
});

describe('a record', () => {
  const entry = (body: ListedEntry['body']): ListedEntry => ({
    messageId: 'ümlaut',
    url: 'https://flow.example/',
    createdAt: 1,
    notBefore: 1,
    body,
    bodyBytes: 10,
  });
  const { body: _body, ...rest } = entry({ at: 'bucket', key: 'key' });
  const frameBytes = Buffer.byteLength(JSON.stringify(rest));
  const here = (bytes: number) => entry({ at: 'here', bytes: new Uint8Array(bytes), deflated: false });

  it('counts the bytes of its entries, including inline bodies', () => {
    expect(entryBytes(entry({ at: 'bucket', key: 'key' }))).toBe(frameBytes);
    expect(entryBytes(here(10))).toBe(frameBytes + 10);
  });

  it('allows up to 60 KiB of entries in order, or one larger entry up to 360 KiB', () => {
    const [most, largest] = [60 * 1_024, 360 * 1_024];
    const sizes = (...bodies: number[]) =>
      recordsFor(bodies.map((bytes) => here(bytes - frameBytes))).map((record) =>
        record.map((one) => entryBytes(one)),
      );
    const half = most / 2;
    expect(sizes(half, half)).toEqual([[half, half]]);
    expect(sizes(half, half + 1, 1_000)).toEqual([[half], [half + 1, 1_000]]);
    expect(sizes(1_000, largest, 1_000)).toEqual([[1_000], [largest], [1_000]]);
    expect(() => sizes(1_000, largest + 1)).toThrow(
      refusedWith(`A step has ${largest + 1} bytes, with its name and headers; allowed are ${largest}.`),
    );
  });
});
