import { array, assert, constantFrom, integer, nat, property, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import {
  emptyLine,
  join,
  lengthOf,
  next,
  pageSize,
  rejoin,
  spill,
  withPage,
  type Line,
} from '../../../../lambdas/lane/rules/line.ts';

/** A line and its pages as a process that writes each change keeps them. */
class Kept {
  line: Line = emptyLine;
  readonly pages = new Map<number, readonly string[]>();

  spill(): void {
    const { line, pages } = spill(this.line);
    for (const { number, entries } of pages) this.pages.set(number, entries);
    this.line = line;
  }

  shift(): string | undefined {
    const first = next(this.line);
    if (typeof first !== 'number') {
      if (first !== undefined) this.line = first.rest;
      return first?.entry;
    }
    const page = this.pages.get(first);
    if (page === undefined) throw new Error(`Page ${first} was not written.`);
    this.pages.delete(first);
    this.line = withPage(this.line, page);
    return this.shift();
  }
}

/** Bursts, because otherwise joins and leaves would balance and the line would have no pages. */
const steps = array(
  tuple(constantFrom('join', 'join', 'shift', 'spill', 'rejoin'), integer({ min: 1, max: 20 })),
  { maxLength: 15 },
).map((bursts) =>
  bursts.flatMap(([step, times]) => Array.from({ length: step === 'rejoin' ? 1 : times }, () => step)),
);

it('is first in, first out, with any changes of its pages', () => {
  assert(
    property(steps, (all) => {
      const kept = new Kept();
      const plain: string[] = [];
      all.forEach((step, index) => {
        const entry = `entry ${index}`;
        if (step === 'join') {
          kept.line = join(kept.line, entry);
          plain.push(entry);
        } else if (step === 'rejoin') {
          kept.line = rejoin(kept.line, entry);
          plain.unshift(entry);
        } else if (step === 'spill') kept.spill();
        else expect(kept.shift()).toBe(plain.shift());
        expect(lengthOf(kept.line)).toBe(plain.length);
      });
      while (plain.length > 0) expect(kept.shift()).toBe(plain.shift());
      expect(kept.pages.size).toBe(0);
    }),
  );
});

it('writes one content only under a page’s number, even if the write is late', () => {
  assert(
    property(steps, nat(), (all, seed) => {
      const kept = new Kept();
      const written = new Map<number, string>();
      all.forEach((step, index) => {
        if (step === 'join') kept.line = join(kept.line, `entry ${seed} ${index}`);
        if (step === 'shift') kept.shift();
        // Any process that saw this line writes these pages, now or much later.
        for (const { number, entries } of spill(kept.line).pages) {
          expect(written.get(number) ?? entries.join()).toBe(entries.join());
          written.set(number, entries.join());
        }
        if (step === 'spill') kept.spill();
      });
    }),
  );
});

it('keeps at most a page at each end in its row after it has spilled', () => {
  const kept = new Kept();
  const pages = 5;
  for (let index = 0; index < pages * pageSize; index += 1) {
    kept.line = join(kept.line, String(index));
    kept.spill();
    expect(kept.line.front.length + kept.line.back.length).toBeLessThan(2 * pageSize);
  }
  expect(lengthOf(kept.line)).toBe(pages * pageSize);
});
