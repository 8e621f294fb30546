import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from '../../../local/heap.ts';

interface Item {
  place: number;
  rank: number;
}

const operation = fc.record({
  kind: fc.constantFrom('add', 'remove', 'reorder'),
  rank: fc.integer({ min: 0, max: 50 }),
  pick: fc.nat(),
});

test('the first item is always one of the smallest, after any additions, moves and removals', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const heap = new Heap<Item>((a, b) => a.rank < b.rank);
      const model: Item[] = [];
      for (const { kind, rank, pick } of operations) {
        const item = model[pick % Math.max(1, model.length)];
        if (kind === 'add' || item === undefined) {
          const added = { place: -1, rank };
          heap.add(added);
          model.push(added);
        } else if (kind === 'remove') {
          heap.remove(item);
          model.splice(model.indexOf(item), 1);
        } else {
          item.rank = rank;
          heap.reorder(item);
        }
        const least = model.length === 0 ? undefined : Math.min(...model.map((other) => other.rank));
        expect(heap.first?.rank).toBe(least);
      }
    }),
  );
});
