import { timeOfId } from '../../shared/ids.ts';
import { priorities } from '../../value/turn.ts';
import { processPrefix, type Lane } from '../lane.ts';
import { tenantsOf } from './tenants.ts';
import { parseEntry } from '../rules/entry.ts';
import { unnamed, type FairLine } from '../rules/fairLine.ts';
import { waitingOf } from '../rules/tenants.ts';
import { loadPage } from '../store/laneRows.ts';

const publishedAt = (entry: string): number => timeOfId(parseEntry(entry).messageId);

interface WaitingKey {
  readonly fairKey: string;
  readonly waiting: number;
}

export interface Waiting {
  /** When the oldest waiting message was published. */
  readonly oldestAt: number | undefined;
  /** The fair keys with the most waiting messages, if any. */
  readonly fairKeys?: readonly WaitingKey[] | undefined;
}

const mostShown = 20;
/** The most tenants to read: about four calls of DynamoDB. */
const mostTenants = 10_000;

async function oldestInLine(lane: Lane): Promise<readonly string[]> {
  const { front, firstPage, nextPage, back } = lane.line;
  const next = front.length > 0 ? front : firstPage < nextPage ? await loadPage(lane, firstPage) : back;
  return next.slice(0, 1);
}

async function waitingInFair(lane: Lane, fair: FairLine) {
  const heads = [...fair.first];
  const keys: WaitingKey[] = [];
  let count = 0;
  for await (const { name, tenant } of tenantsOf(lane, fair)) {
    heads.push(...priorities.flatMap((priority) => tenant.lines[priority].front.slice(0, 1)));
    const waiting = waitingOf(tenant);
    if (name !== unnamed && waiting > 0) keys.push({ fairKey: name, waiting });
    count += 1;
    if (count === mostTenants) break;
  }
  const fairKeys = keys.toSorted((one, other) => other.waiting - one.waiting).slice(0, mostShown);
  return { heads, fairKeys };
}

/** Whether other rows than the lane's must be read to find the oldest message. */
export const isReadForOldest = ({ line, fair }: Lane): boolean =>
  fair !== undefined || (line.front.length === 0 && line.firstPage < line.nextPage);

/** Finds what waits in a lane. May read a page of the line, and the tenants of a fair line. */
export async function whatWaits(lane: Lane): Promise<Waiting> {
  const inLine = await oldestInLine(lane);
  const { heads, fairKeys } = lane.fair
    ? await waitingInFair(lane, lane.fair)
    : { heads: [], fairKeys: undefined };
  const times = [...inLine, ...heads].map(publishedAt);
  return { oldestAt: times.length === 0 ? undefined : Math.min(...times), fairKeys };
}

/** Like {@link whatWaits}, but includes messages that are being delivered or retried. */
export async function whatIsInQueue(queue: Lane): Promise<Waiting> {
  const held = [...queue.leases]
    .filter(([holder, { isOver }]) => !holder.startsWith(processPrefix) && isOver !== true)
    .map(([holder]) => publishedAt(holder));
  const { oldestAt, fairKeys } = await whatWaits(queue);
  const oldest = Math.min(...held, oldestAt ?? Infinity);
  return { oldestAt: oldest === Infinity ? undefined : oldest, fairKeys };
}
