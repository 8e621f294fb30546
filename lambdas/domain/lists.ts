/** The items in order, in lists of so many; the last may be shorter. */
export const chunksOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Works on all items, so many at once. The first error ends it, once what is under way is done. */
export async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) await work(item, index);
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
}
