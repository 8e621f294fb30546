const usualCapacity = 1_000;

/**
 * Gets a key's value, or makes it.
 *
 * @param isIdle whether a value may be removed
 * @param capacity the most values kept; above it, the least recently used idle ones are removed
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
