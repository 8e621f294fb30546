/** An item of a heap. It knows its place, so that it can be removed or moved without a search. */
export interface Placed {
  /** The index in the heap's array; -1 if it is in no heap. Only the heap writes it. */
  place: number;
}

/** A binary heap, smallest item first. Each change takes O(log n). */
export class Heap<Item extends Placed> {
  readonly #items: Item[] = [];
  readonly #before: (a: Item, b: Item) => boolean;

  /** @param before whether `a` comes before `b`; false if they are equal */
  constructor(before: (a: Item, b: Item) => boolean) {
    this.#before = before;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items.values();
  }

  add(item: Item): void {
    this.#put(item, this.#items.length);
    this.#rise(item);
  }

  /** Moves an item whose order has changed. */
  reorder(item: Item): void {
    this.#rise(item);
    this.#sink(item);
  }

  remove(item: Item): void {
    const last = this.#items.pop();
    if (last === undefined) throw new Error('An empty heap has nothing to remove.');
    const place = item.place;
    item.place = -1;
    if (last === item) return;
    this.#put(last, place);
    this.reorder(last);
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }

  #swap(a: Item, b: Item): void {
    const place = a.place;
    this.#put(a, b.place);
    this.#put(b, place);
  }

  #rise(item: Item): void {
    for (;;) {
      const parent = item.place === 0 ? undefined : this.#items[(item.place - 1) >> 1];
      if (parent === undefined || !this.#before(item, parent)) return;
      this.#swap(item, parent);
    }
  }

  #sink(item: Item): void {
    for (;;) {
      const left = this.#items[2 * item.place + 1];
      const right = this.#items[2 * item.place + 2];
      if (left === undefined) return;
      const child = right !== undefined && this.#before(right, left) ? right : left;
      if (!this.#before(child, item)) return;
      this.#swap(item, child);
    }
  }
}
