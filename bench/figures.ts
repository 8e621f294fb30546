export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[(values.length - 1) / 2];
  if (middle === undefined) throw new Error(`${values.length} values have no middle.`);
  return middle;
}
