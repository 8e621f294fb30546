/** Values that a process keeps at once. Above it, idle values that were used longest ago are forgotten. */
const capacity = 1_000;

/**
 * Takes the value of a key out of those that a process keeps, and makes it where it is missing.
 *
 * @param isIdle whether a value may be forgotten
 */
export function recentlyUsed<T>(
  values: Map<string, T>,
  key: string,
  make: () => T,
  isIdle: (value: T) => boolean,
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
