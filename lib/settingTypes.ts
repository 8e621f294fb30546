/** The types of settings: how each is read, also from the command line, where every value is text. */
import * as z from 'zod';

/** Splits text at commas; a list stays as it is. */
export const items = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    : value;

/** A list, or the same list as text with commas. */
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

/** A list of texts in one form. */
export const listOf = (form: RegExp, sentence: string) =>
  list.pipe(z.array(z.string().regex(form, `must be ${sentence}`))).default([]);

/** The end of an EC2 id: 8 hexadecimal digits in old ids, 17 in new ones. */
export const hexId = '(?:[0-9a-f]{8}|[0-9a-f]{17})';

/** A list with values for regions, as `region=value`. */
export const regional = (value: string, example: string) =>
  listOf(new RegExp(`^${region}=${value}$`), `a region and its value, such as eu-central-1=${example}`);
