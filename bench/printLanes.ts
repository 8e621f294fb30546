/** Prints what lanes cost, and reports missed goals. */
import type { LaneCost, LaneCosts } from './laneCosts.ts';
import { unitsInSecond, type LaneRow } from './laneRows.ts';
import type { LaneSpeed } from './laneSpeed.ts';
import { printTable, short, verdict } from './table.ts';

/**
 * The writes that a lane may add to a message. They include refused writes, which depend on timing and the machine, so for
 * those only the reader judges.
 */
const laneGoals = { capacity: 2, waiting: 4 } as const;
/**
 * If the lane's row does not keep a tenant, its own row is written when a message joins and leaves, and its turn is recorded.
 */
const tenantWrites = 1;
const keptTenants = 4;

const goalOf = ({ lane: { fairKeys = 0 } }: LaneCost, goal: number): number =>
  fairKeys > keptTenants ? goal + tenantWrites : goal;

/** @returns the missed goals */
export function printLaneCosts({ capacity, waiting }: LaneCosts): readonly string[] {
  printCosts('where it finds capacity, one message after another', capacity, laneGoals.capacity);
  printCosts('where all are published before the first is delivered', waiting, laneGoals.waiting);
  return [
    ...missed(capacity, laneGoals.capacity, 'finds capacity'),
    ...missed(waiting, laneGoals.waiting, 'waits'),
  ];
}

function printCosts(where: string, costs: readonly LaneCost[], goal: number): void {
  const plain = costs.find(({ lane }) => lane.name === 'none');
  printTable(`A message in a lane, ${where}`, costs, [
    ['lane', ({ lane }) => lane.name],
    ['messages', ({ messages }) => String(messages)],
    ['publish calls', ({ publishCalls }) => short(publishCalls)],
    ['deliver calls', ({ deliverCalls }) => short(deliverCalls)],
    ['writes', ({ writes }) => short(writes)],
    ['refused', ({ refused }) => short(refused)],
    ['write units', ({ writeUnits }) => short(writeUnits)],
    ['reads', ({ reads }) => short(reads)],
    ['sends', ({ sends }) => short(sends)],
    ['pumps', ({ pumps }) => short(pumps)],
    ['returns', ({ returns }) => short(returns)],
    ['$ publish', ({ publishDollars }) => publishDollars.toFixed(3)],
    ['$ deliver', ({ deliverDollars }) => deliverDollars.toFixed(3)],
    ['$ more', (cost) => (plain === undefined ? '' : (totalOf(cost) - totalOf(plain)).toFixed(3))],
    [
      `≤ ${goal} writes, ${goal + tenantWrites} with many fair keys`,
      (cost) => verdict(cost.writes, goalOf(cost, goal)),
    ],
    ['with refused', (cost) => verdict(cost.writes + cost.refused, goalOf(cost, goal))],
  ]);
}

const totalOf = ({ publishDollars, deliverDollars }: LaneCost): number => publishDollars + deliverDollars;

const missed = (costs: readonly LaneCost[], goal: number, what: string): readonly string[] =>
  costs
    .filter((cost) => cost.writes > goalOf(cost, goal))
    .map(({ lane, writes }) => `A message that ${what} (${lane.name}) takes ${short(writes)} writes.`);

export const printLaneRows = (rows: readonly LaneRow[]): void => {
  printTable('The row of a lane, and how many writes of it DynamoDB takes', rows, [
    ['lane', ({ kind }) => kind],
    ['leases', ({ leases }) => String(leases)],
    ['line', ({ isLong }) => (isLong ? 'long' : 'empty')],
    ['bytes', ({ bytes }) => String(bytes)],
    ['write units', ({ writeUnits }) => String(writeUnits)],
    ['writes a second', ({ writeUnits }) => String(Math.floor(unitsInSecond / writeUnits))],
  ]);
};

/** On a local stage. Times depend on the machine, so only the reader judges them. */
const speedGoals = { messagesPerSecond: 20, gapMs: 100 } as const;

export function printLaneSpeeds(speeds: readonly LaneSpeed[]): void {
  const plain = speeds.find(({ lane }) => lane.name === 'none')?.messagesPerSecond ?? Number.NaN;
  printTable('Messages through one lane of a local stage, to a destination that answers at once', speeds, [
    ['lane', ({ lane }) => lane.name],
    ['messages', ({ messages }) => String(messages)],
    ['a second', ({ messagesPerSecond }) => messagesPerSecond.toFixed(1)],
    ['of none', ({ messagesPerSecond }) => (messagesPerSecond / plain).toFixed(2)],
    [
      `≥ ${speedGoals.messagesPerSecond}`,
      ({ lane, messagesPerSecond }) =>
        lane.parallelism === 1 ? verdict(-messagesPerSecond, -speedGoals.messagesPerSecond) : '',
    ],
    ['gap ms', ({ gaps }) => gaps?.medianMs.toFixed(0) ?? ''],
    ['worst', ({ gaps }) => gaps?.worstMs.toFixed(0) ?? ''],
    [
      `≤ ${speedGoals.gapMs} ms`,
      ({ gaps }) => (gaps === undefined ? '' : verdict(gaps.worstMs, speedGoals.gapMs)),
    ],
  ]);
}
