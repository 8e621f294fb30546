/** Calls a function for each item, with a limited number of concurrent calls. @returns the results, in the items' order */
export async function sideBySide<T, R>(
  items: readonly T[],
  atMost: number,
  call: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Map<number, R>();
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) results.set(index, await call(item));
  };
  await Promise.all(Array.from({ length: atMost }, work));
  return [...results].toSorted(([one], [other]) => one - other).map(([, result]) => result);
}
