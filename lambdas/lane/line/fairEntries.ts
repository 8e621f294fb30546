import { chunksOf, eachOf } from '../../shared/lists.ts';
import { now } from '../../shared/clock.ts';
import { priorities, type Priority } from '../../value/turn.ts';
import type { LaneKey } from '../lane.ts';
import { parseEntry, type Entry } from '../rules/entry.ts';
import { type FairLine } from '../rules/fairLine.ts';
import { tenantLine } from '../rules/tenants.ts';
import type { Page } from '../rules/line.ts';
import { loadPage } from '../store/laneRows.ts';
import { tenantsOf, type FoundTenant } from './tenants.ts';

const tenantsAtOnce = 20;
const pagesAtOnce = 10;
const entriesAtOnce = 20;

/** A place in a fair line. Everything before it has been handled. */
interface Place {
  readonly name: string;
  readonly priority: Priority;
  /** The number of a page; -1 for the tenant's row. */
  readonly page: number;
}

const beginOf = (name: string): Place => ({ name, priority: priorities[0], page: -1 });

const textOf = ({ name, priority, page }: Place): string => `${priority} ${page} ${name}`;

function placeOf(text: string): Place {
  const [, word, page, name = ''] = /^(\w+) (-?\d+) (.*)$/s.exec(text) ?? [];
  const priority = priorities.find((one) => one === word);
  if (priority === undefined) throw new Error(`${text} is not a place in a line.`);
  return { name, priority, page: Number(page) };
}

type Part =
  | { readonly place: Place; readonly tenants: readonly FoundTenant[] }
  | { readonly place: Place; readonly pages: readonly number[] };

function* pagesOf({ name, tenant }: FoundTenant, from: Place): Generator<Part> {
  for (const priority of priorities.slice(priorities.indexOf(from.priority))) {
    const { firstPage, nextPage } = tenant.lines[priority];
    const first = priority === from.priority ? Math.max(firstPage, from.page) : firstPage;
    const all = Array.from({ length: Math.max(0, nextPage - first) }, (_, index) => first + index);
    for (const pages of chunksOf(all, pagesAtOnce)) {
      yield { place: { name, priority, page: pages[0] ?? first }, pages };
    }
  }
}

function* partsOf(tenants: readonly FoundTenant[]): Generator<Part> {
  const [first] = tenants;
  if (first === undefined) return;
  yield { place: beginOf(first.name), tenants };
  for (const tenant of tenants) yield* pagesOf(tenant, beginOf(tenant.name));
}

async function* allParts(key: LaneKey, fair: FairLine, from: Place | undefined): AsyncGenerator<Part> {
  let some: FoundTenant[] = [];
  for await (const tenant of tenantsOf(key, fair, from?.name)) {
    if (from !== undefined && from.page >= 0 && tenant.name === from.name) {
      yield* pagesOf(tenant, from);
      continue;
    }
    some.push(tenant);
    if (some.length < tenantsAtOnce) continue;
    yield* partsOf(some);
    some = [];
  }
  yield* partsOf(some);
}

interface Doing {
  readonly onEntry: (entry: Entry) => Promise<void>;
  readonly onPage?: (page: Page) => Promise<void>;
  readonly onTenant?: (tenant: FoundTenant) => Promise<void>;
}

/**
 * @param from where to continue; undefined for the beginning
 * @param until when to stop; at least one part is done
 * @returns where to continue if the time ran out
 */
export async function onFairLine(
  key: LaneKey,
  fair: FairLine,
  from: string | undefined,
  until: number,
  { onEntry, onPage = async () => {}, onTenant = async () => {} }: Doing,
): Promise<string | undefined> {
  const onEntries = (entries: readonly string[]): Promise<void> =>
    eachOf(entries, entriesAtOnce, (entry) => onEntry(parseEntry(entry)));

  async function onPart(part: Part): Promise<void> {
    if ('tenants' in part) {
      const lines = part.tenants.flatMap(({ tenant }) =>
        priorities.map((priority) => tenant.lines[priority]),
      );
      await onEntries(lines.flatMap(({ front, back }) => [...front, ...back]));
      await eachOf(part.tenants, tenantsAtOnce, onTenant);
      return;
    }
    const line = tenantLine(fair, part.place);
    const pages = await Promise.all(
      part.pages.map(async (number): Promise<Page> => ({
        number,
        line,
        entries: await loadPage(key, number, line),
      })),
    );
    await onEntries(pages.flatMap(({ entries }) => entries));
    await eachOf(pages, pagesAtOnce, onPage);
  }

  if (from === undefined) await onEntries(fair.first);
  let isFirst = true;
  for await (const part of allParts(key, fair, from === undefined ? undefined : placeOf(from))) {
    if (!isFirst && now() > until) return textOf(part.place);
    isFirst = false;
    await onPart(part);
  }
  return undefined;
}
