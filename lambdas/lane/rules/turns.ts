import { priorities, type Priority } from '../../value/turn.ts';
import type { Lane } from '../lane.ts';
import { unnamed, type FairLine, type Tenant } from './fairLine.ts';
import {
  inRing,
  ringLine,
  takeFirst,
  tenantLine,
  withPageBehind,
  withTenant,
  withTenantLine,
} from './tenants.ts';
import { isEmpty, next, withPage, type Line } from './line.ts';

/** After this many starts of a tenant in a row, a waiting entry of a lower priority is next. */
const mostOvertakes = 7;

export type NextTurn =
  | { readonly kind: 'next'; readonly entry: string; readonly lane: Lane }
  /** The turn found only cancelled entries. */
  | { readonly kind: 'dropped'; readonly lane: Lane }
  /** A page of the lane's own line must be read. */
  | { readonly kind: 'page'; readonly number: number; readonly line?: undefined }
  | {
      readonly kind: 'fairPage';
      readonly number: number;
      readonly line: string;
      readonly with: (entries: readonly string[]) => Lane;
    }
  | { readonly kind: 'tenants'; readonly fairId: string; readonly names: readonly string[] };

export type Unread = Extract<NextTurn, { readonly kind: 'page' | 'fairPage' | 'tenants' }>;

const isOwn = (name: string, priority: Priority): boolean => name === unnamed && priority === 'normal';

/** Entries begin with message ids, which grow with time. */
const isOlder = (one: string, other: string): boolean => one < other;

/** @param heads the first entry of each line of the tenant, highest priority first */
function priorityOf(
  heads: readonly (readonly [Priority, string])[],
  overtakes: number,
): { readonly priority: Priority; readonly overtakes: number } | undefined {
  const [first, ...others] = heads;
  if (first === undefined) return undefined;
  if (others.length === 0) return { priority: first[0], overtakes: 0 };
  if (overtakes < mostOvertakes) return { priority: first[0], overtakes: overtakes + 1 };
  const [priority] = others.reduce((oldest, one) => (isOlder(one[1], oldest[1]) ? one : oldest));
  return { priority, overtakes: 0 };
}

/** Moves to the next tenant in the ring. A tenant that still has waiting entries goes to the end. */
function afterTurn(lane: Lane, fair: FairLine, name: string, tenant: Tenant): Lane {
  const waits = priorities.some(
    (priority) => !isEmpty(isOwn(name, priority) ? lane.line : tenant.lines[priority]),
  );
  const outside = { ...tenant, isInRing: false };
  return { ...lane, fair: waits ? inRing(fair, name, outside) : withTenant(fair, name, outside) };
}

/**
 * @param loaded tenants that were read
 * @param turns how many turns to prepare; their tenants are read together
 */
export function nextTurn(
  lane: Lane,
  fair: FairLine,
  loaded: ReadonlyMap<string, Tenant>,
  turns: number,
): NextTurn {
  const [entry, ...first] = fair.first;
  if (entry !== undefined) {
    return { kind: 'next', entry, lane: { ...lane, fair: { ...fair, first, waiting: fair.waiting - 1 } } };
  }
  const turn = next(fair.ring);
  // Nothing waits. The line's count is wrong only if a row was lost.
  if (turn === undefined) return { kind: 'dropped', lane: { ...lane, fair: undefined } };
  if (typeof turn === 'number') {
    return {
      kind: 'fairPage',
      line: ringLine(fair),
      number: turn,
      with: (names) => ({ ...lane, fair: { ...fair, ring: withPage(fair.ring, names) } }),
    };
  }
  const { entry: name, rest: ring } = turn;
  const tenant = fair.tenants.get(name) ?? loaded.get(name);
  if (tenant === undefined) {
    const unread = [name, ...ring.front.slice(0, turns - 1)].filter(
      (one) => !fair.tenants.has(one) && !loaded.has(one),
    );
    return { kind: 'tenants', fairId: fair.id, names: [...new Set(unread)] };
  }
  return turnOf(lane, { ...fair, ring }, name, tenant, (line, priority) => {
    const withLine = withTenantLine(tenant, priority, line);
    return { ...lane, fair: withTenant(fair, name, withLine) };
  });
}

/**
 * @param fair the line after the tenant left the ring
 * @param withLine returns the lane before the turn, with this line of the tenant
 */
function turnOf(
  lane: Lane,
  fair: FairLine,
  name: string,
  tenant: Tenant,
  withLine: (line: Line, priority: Priority) => Lane,
): NextTurn {
  const own = name === unnamed ? next(lane.line) : undefined;
  if (typeof own === 'number') return { kind: 'page', number: own };
  const heads = priorities.flatMap((priority): (readonly [Priority, string])[] => {
    const head = isOwn(name, priority) ? own?.entry : tenant.lines[priority].front[0];
    return head === undefined ? [] : [[priority, head]];
  });
  const chosen = priorityOf(heads, tenant.overtakes);
  if (chosen === undefined) return { kind: 'dropped', lane: afterTurn(lane, fair, name, tenant) };
  const { priority, overtakes } = chosen;
  if (isOwn(name, priority) && own !== undefined) {
    const moved = { ...lane, line: own.rest };
    return { kind: 'next', entry: own.entry, lane: afterTurn(moved, fair, name, { ...tenant, overtakes }) };
  }
  const line = tenant.lines[priority];
  const taken = takeFirst(line);
  if (taken === undefined) throw new Error('A line has an entry, but none could be taken.');
  if (typeof taken === 'number') {
    return {
      kind: 'fairPage',
      line: tenantLine(fair, { name, priority }),
      number: taken,
      with: (entries) => withLine(withPageBehind(line, entries), priority),
    };
  }
  const after = withTenantLine({ ...tenant, overtakes }, priority, taken.rest);
  const shorter = { ...fair, waiting: fair.waiting - 1 };
  return { kind: 'next', entry: taken.entry, lane: afterTurn(lane, shorter, name, after) };
}
