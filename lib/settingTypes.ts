/** The types of settings. On the command line every value is text. */
import * as z from 'zod';
import {
  arnKinds,
  arnServices,
  oneWithArn,
  patternsOf,
  type ArnService,
} from '../lambdas/destination/arns.ts';

export const items = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    : value;

export const list = z.preprocess(items, z.array(z.string().min(1)));

export const asFlag = (value: unknown): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;
export const flag = z.preprocess(asFlag, z.boolean());

export const number = <T extends z.ZodType>(type: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
    type,
  );

export const whole = (least: number, most: number) => number(z.int().min(least).max(most));

export const region = '[a-z]{2}(?:-[a-z]+)+-\\d';

export const listOf = (form: RegExp, sentence: string) =>
  list.pipe(z.array(z.string().regex(form, `must be ${sentence}`))).default([]);

/** The end of an EC2 id: 8 hexadecimal digits in old ids, 17 in new ones. */
export const hexId = '(?:[0-9a-f]{8}|[0-9a-f]{17})';

export const regional = (value: string, example: string) =>
  listOf(new RegExp(`^${region}=${value}$`), `a region and its value, such as eu-central-1=${example}`);

const arnPattern = (services: readonly ArnService[]) =>
  new RegExp(`^arn:aws(-cn|-us-gov)?:${patternsOf(services, '[a-z0-9*-]+:[0-9*]+')}$`);

export const functionPattern = arnPattern(['lambda']);
export const allowedFunctionPattern =
  'the ARN of a Lambda function, in which * means any characters, such as arn:aws:lambda:eu-central-1:123456789012:function:orders-*';

export const destinationPattern = arnPattern(arnServices);
export const allowedDestinationPattern = `the ARN of ${oneWithArn}, in which * means any characters, such as arn:aws:sqs:eu-central-1:123456789012:orders-*`;

/** Returns the service in an ARN pattern, or undefined for other text. */
export const destinationServiceOf = (pattern: string): ArnService | undefined =>
  arnServices.find((service) => service === pattern.split(':')[2]);

/** Returns the kind of this deployment's resources that an ARN pattern may match. */
export function ownKindOf(pattern: string, name: string): string | undefined {
  const service = destinationServiceOf(pattern);
  const named = pattern
    .split(':')
    .slice(5)
    .join(':')
    .replace(/^[a-z-]+[:/]/, '');
  if (service === undefined || !arnKinds[service].isOwn || !mayBeginWith(named, name)) return undefined;
  return arnKinds[service].what;
}

function mayBeginWith(pattern: string, name: string): boolean {
  const [fixed = '', ...others] = pattern.split('*');
  const own = `${name}-`;
  return fixed.startsWith(own) || (others.length > 0 && own.startsWith(fixed));
}
