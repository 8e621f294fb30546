const usualCapacity = 1_000;

/**
 * Gets the value of a key, or makes it.
 *
 * @param isIdle whether a value may be removed
 * @param capacity above this number, the least recently used idle values are removed
 */
export function recentlyUsed<T>(
  values: Map<string, T>,
  key: string,
  make: () => T,
  isIdle: (value: T) => boolean = () => true,
  capacity = usualCapacity,
): T {
  const used = values.get(key) ?? make();
  values.delete(key);
  values.set(key, used);
  for (const [other, value] of values) {
    if (values.size <= capacity) break;
    if (other !== key && isIdle(value)) values.delete(other);
  }
  return used;
}
