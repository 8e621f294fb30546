import * as z from 'zod/mini';
import { priorities, type Priority } from '../../value/turn.ts';
import type { Lane } from '../lane.ts';
import type { FairLine, Tenant } from '../rules/fairLine.ts';
import type { Line } from '../rules/line.ts';

const number = z._default(z.number(), 0);
const texts = z._default(z.array(z.string()), []);

const lineShape = { front: texts, firstPage: number, nextPage: number, back: texts } as const;
const lineRow = z._default(z.object(lineShape), { front: [], firstPage: 0, nextPage: 0, back: [] });

export const tenantShape = {
  high: lineRow,
  normal: lineRow,
  low: lineRow,
  overtakes: number,
  isInRing: z._default(z.boolean(), false),
} as const;
const fairRow = z.object({
  id: z.string(),
  ring: lineRow,
  first: texts,
  waiting: number,
  tenants: z.array(z.object({ name: z.string(), ...tenantShape })),
});

/** Removes default values, because writes are billed by the kilobyte. */
export function withoutDefaults(row: object): object {
  const isDefault = (value: unknown): boolean =>
    value === false || value === 0 || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(row).filter(([, value]) => !isDefault(value)));
}

export function rowOfTenant({ lines, ...rest }: Tenant): object {
  const short = priorities.flatMap((priority): [Priority, object][] => {
    const line = withoutDefaults(lines[priority]);
    return Object.keys(line).length === 0 ? [] : [[priority, line]];
  });
  return { ...Object.fromEntries(short), ...withoutDefaults(rest) };
}

type TenantFields = Record<Priority, Line> & Omit<Tenant, 'lines'>;

export const tenantOf = ({ high, normal, low, overtakes, isInRing }: TenantFields): Tenant => ({
  lines: { high, normal, low },
  overtakes,
  isInRing,
});

const rowOfFair = ({ ring, tenants, asked: _asked, ...rest }: FairLine): object => ({
  ...withoutDefaults(rest),
  ring: withoutDefaults(ring),
  tenants: [...tenants].map(([name, tenant]) => ({ name, ...rowOfTenant(tenant) })),
});

const fairOf = ({ tenants, ...rest }: z.infer<typeof fairRow>): FairLine => ({
  ...rest,
  tenants: new Map(tenants.map(({ name, ...tenant }) => [name, tenantOf(tenant)])),
  asked: [],
});

/**
 * A lane with a fair line stores its own line in `own` instead of `back`. An older release, which knows no
 * fair lines, then cannot read the row, so its jobs are retried. Otherwise it would lose the fair line.
 */
const elsewhere = 'own';

export const lineShapes = {
  ...lineShape,
  back: z._default(z.union([z.array(z.string()), z.literal(elsewhere)]), []),
  own: z.optional(z.object(lineShape)),
  fair: z.optional(fairRow),
  deletedFairLines: z._default(z.array(z.object({ fair: fairRow, from: z.optional(z.string()) })), []),
} as const;

type LineFields = z.infer<z.ZodMiniObject<typeof lineShapes>>;

export function withLines<Fields extends LineFields>(row: Fields) {
  const { front, firstPage, nextPage, back, own, fair, deletedFairLines, ...rest } = row;
  return {
    ...rest,
    line: own ?? { front, firstPage, nextPage, back: back === elsewhere ? [] : back },
    ...(fair && { fair: fairOf(fair) }),
    deletedFairLines: deletedFairLines.map((one) => ({ ...one, fair: fairOf(one.fair) })),
  };
}

export function rowOfLines({
  line,
  fair,
  deletedFairLines,
}: Pick<Lane, 'line' | 'fair' | 'deletedFairLines'>): object {
  if (fair === undefined && deletedFairLines.length === 0) return line;
  return {
    back: elsewhere,
    own: withoutDefaults(line),
    ...(fair && { fair: rowOfFair(fair) }),
    deletedFairLines: deletedFairLines.map((one) => ({ ...one, fair: rowOfFair(one.fair) })),
  };
}
