import { priorities, type Priority } from '../../value/turn.ts';
import { unnamed, type Asked, type FairLine, type Tenant, type TenantPlace } from './fairLine.ts';
import { isEmpty, join, lengthOf, spill, withPage, type Line, type Page } from './line.ts';

export const ringLine = ({ id }: FairLine): string => `fair#${id}#ring`;
export const tenantLine = ({ id }: FairLine, { name, priority }: TenantPlace): string =>
  `fair#${id}#${priority}#${name}`;

/** Sets a tenant. The tenant that changed last is at the end. */
export function withTenant(fair: FairLine, name: string, tenant: Tenant): FairLine {
  const tenants = new Map(fair.tenants);
  tenants.delete(name);
  return { ...fair, tenants: tenants.set(name, tenant) };
}

export const withTenantLine = (tenant: Tenant, priority: Priority, line: Line): Tenant => ({
  ...tenant,
  lines: { ...tenant.lines, [priority]: line },
});

/** Puts a tenant at the end of the ring, unless it is in the ring. */
export const inRing = (fair: FairLine, name: string, tenant: Tenant): FairLine =>
  tenant.isInRing
    ? withTenant(fair, name, tenant)
    : withTenant({ ...fair, ring: join(fair.ring, name) }, name, { ...tenant, isInRing: true });

/** While the front has fewer entries, a new entry joins it instead of the back. */
const frontSize = 8;

/**
 * Adds an entry to a tenant's line. The front is empty only if the whole line is, so the tenant's row shows
 * the next entry.
 */
const joinTenant = (line: Line, entry: string): Line =>
  isEmpty({ ...line, front: [] }) && line.front.length < frontSize
    ? { ...line, front: [...line.front, entry] }
    : join(line, entry);

/** Fills an empty front with the back, unless pages come before the back; they must be read first. */
const filled = (line: Line): Line => {
  if (line.front.length > 0 || line.firstPage < line.nextPage || line.back.length === 0) return line;
  const nextPage = line.nextPage + Math.floor(line.back.length / frontSize) + 1;
  return { front: line.back, firstPage: nextPage, nextPage, back: [] };
};

/** @returns the first entry; or the number of a page to read first: see {@link withPageBehind} */
export function takeFirst(line: Line): { readonly entry: string; readonly rest: Line } | number | undefined {
  const [entry, ...front] = line.front;
  if (entry === undefined) return undefined;
  if (front.length === 0 && line.firstPage < line.nextPage) return line.firstPage;
  return { entry, rest: filled({ ...line, front }) };
}

/** Adds the oldest page to the end of a line's front. */
export const withPageBehind = (line: Line, entries: readonly string[]): Line =>
  withPage(line, [...line.front, ...entries]);

function joined(fair: FairLine, { name, priority, entry }: Asked, tenant: Tenant): FairLine {
  const longer = withTenantLine(tenant, priority, joinTenant(tenant.lines[priority], entry));
  return inRing({ ...fair, waiting: fair.waiting + 1 }, name, longer);
}

/**
 * Removes an entry from a tenant's line.
 *
 * @returns `paged` if the entry may be in a page; it counts as cancelled then
 */
function left(fair: FairLine, { name, priority, entry }: Asked, tenant: Tenant): FairLine | 'paged' {
  const without = (entries: readonly string[]) => entries.filter((one) => one !== entry);
  const line = tenant.lines[priority];
  const hasPages = line.firstPage < line.nextPage;
  const shorter = { ...line, front: without(line.front), back: without(line.back) };
  const gone = lengthOf(line) - lengthOf(shorter);
  if (gone === 0) return hasPages ? 'paged' : fair;
  if (shorter.front.length === 0 && hasPages) return 'paged';
  return withTenant(
    { ...fair, waiting: fair.waiting - gone },
    name,
    withTenantLine(tenant, priority, filled(shorter)),
  );
}

/**
 * Adds the entries that asked to join, and removes those that asked to leave.
 *
 * @param tenantOf finds a tenant that is not in the lane's row
 * @returns the line, and how many entries to count as cancelled
 */
export function settled(
  fair: FairLine,
  tenantOf: (name: string) => Tenant,
): { readonly fair: FairLine; readonly cancelled: number } {
  let after: FairLine = { ...fair, asked: [] };
  let cancelled = 0;
  for (const ask of fair.asked) {
    const tenant = after.tenants.get(ask.name) ?? tenantOf(ask.name);
    if (!ask.leaves) {
      after = joined(after, ask, tenant);
      continue;
    }
    const shorter = left(after, ask, tenant);
    if (shorter === 'paged') cancelled += 1;
    else after = shorter;
  }
  return { fair: after, cancelled };
}

const keptTenants = 4;

/**
 * Takes full pages, and the tenants that changed least recently, out of a fair line's row.
 *
 * @param fair from the table: see {@link spill}
 * @returns the line without them, and the rows to write before it
 */
export function spillFair(fair: FairLine): {
  readonly fair: FairLine;
  readonly pages: readonly Page[];
  readonly tenants: ReadonlyMap<string, Tenant>;
} {
  const ring = spill(fair.ring);
  const pages: Page[] = ring.pages.map((page) => ({ ...page, line: ringLine(fair) }));
  let isSame = pages.length === 0;
  const all = [...fair.tenants].map(([name, tenant]): [string, Tenant] => {
    let after = tenant;
    for (const priority of priorities) {
      const spilled = spill(tenant.lines[priority]);
      if (spilled.pages.length === 0) continue;
      const line = tenantLine(fair, { name, priority });
      pages.push(...spilled.pages.map((page) => ({ ...page, line })));
      after = withTenantLine(after, priority, spilled.line);
      isSame = false;
    }
    return [name, after];
  });
  const named = all.filter(([name]) => name !== unnamed);
  const tenants = new Map(named.slice(0, Math.max(0, named.length - keptTenants)));
  if (isSame && tenants.size === 0) return { fair, pages, tenants };
  const kept = new Map(all.filter(([name]) => !tenants.has(name)));
  return { fair: { ...fair, ring: ring.line, tenants: kept }, pages, tenants };
}

export const waitingOf = ({ lines }: Tenant): number =>
  priorities.reduce((sum, priority) => sum + lengthOf(lines[priority]), 0);
