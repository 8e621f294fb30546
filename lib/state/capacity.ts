import * as z from 'zod';

/** The maximum of a table without a quota increase: "Quotas in Amazon DynamoDB", per-table quotas. */
const mostCapacity = 40_000;

/** A range of capacity units, as `least-most`. */
export const capacity = z
  .string()
  .regex(/^[1-9]\d{0,4}-[1-9]\d{0,4}$/, 'must be the least and the most units a second, such as 100-4000')
  .refine((text) => capacityOf(text).least <= capacityOf(text).most, 'must not have a least above its most')
  .refine(
    (text) => capacityOf(text).most <= mostCapacity,
    `must be at most ${mostCapacity} units, which is DynamoDB's quota for a table`,
  );

export function capacityOf(text: string): { readonly least: number; readonly most: number } {
  const [least = 0, most = 0] = text.split('-').map(Number);
  return { least, most };
}

/** A table has both capacities provisioned, or neither. */
interface Capacities {
  readonly writeCapacity?: string | undefined;
  readonly readCapacity?: string | undefined;
}

export function refuseHalf(
  settings: Capacities,
  refuse: (name: keyof Capacities, message: string) => void,
): void {
  for (const [name, other] of [
    ['writeCapacity', 'readCapacity'],
    ['readCapacity', 'writeCapacity'],
  ] as const) {
    if (settings[name] === undefined && settings[other] !== undefined)
      refuse(name, `is absent, but ${other} is set: a table has both provisioned, or none`);
  }
}
