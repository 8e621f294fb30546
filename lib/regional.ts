/** Settings with a value for each region: lists of `region=value`. */

const split = (item: string): readonly [place: string, value: string] => {
  const at = item.indexOf('=');
  return [item.slice(0, at), item.slice(at + 1)];
};

export const valuesIn = (list: readonly string[], region: string): readonly string[] =>
  list.map(split).flatMap(([place, value]) => (place === region ? [value] : []));

export const valuesOf = (list: readonly string[]): readonly string[] => list.map((item) => split(item)[1]);

/** Regions, or others such as `management`. */
export const placesIn = (list: readonly string[]): readonly string[] => list.map((item) => split(item)[0]);

export const regionOfArn = (arn: string): string => arn.split(':')[3] ?? '';
