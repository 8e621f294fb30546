/** Settings with a value for each region: lists of `region=value`. */

const split = (item: string): readonly [place: string, value: string] => {
  const at = item.indexOf('=');
  return [item.slice(0, at), item.slice(at + 1)];
};

export const valuesIn = (list: readonly string[], region: string): readonly string[] =>
  list.map(split).flatMap(([place, value]) => (place === region ? [value] : []));

export const valuesOf = (list: readonly string[]): readonly string[] => list.map((item) => split(item)[1]);

/** The regions in a list, or other places such as `management`. */
export const placesIn = (list: readonly string[]): readonly string[] => list.map((item) => split(item)[0]);

export const regionOfArn = (arn: string): string => arn.split(':')[3] ?? '';

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html */
export const noFunctionUrls: readonly string[] = [
  ...['ap-east-2', 'ap-south-2', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-6', 'ap-southeast-7'],
  ...['ca-west-1', 'eu-central-2', 'eu-south-2', 'il-central-1', 'me-central-1'],
];
