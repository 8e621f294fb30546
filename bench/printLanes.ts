/** Prints what lanes cost, and reports missed goals. */
import type { LaneCost, LaneCosts } from './laneCosts.ts';
import { unitsInSecond, type LaneRow } from './laneRows.ts';
import type { LaneSpeed } from './laneSpeed.ts';
import { formatTable } from './table.ts';

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

const short = (value: number): string => String(Number(value.toFixed(2)));

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
  const rows = costs.map((cost) => [
    cost.lane.name,
    String(cost.messages),
    short(cost.publishCalls),
    short(cost.deliverCalls),
    short(cost.writes),
    short(cost.refused),
    short(cost.writeUnits),
    short(cost.reads),
    short(cost.sends),
    short(cost.pumps),
    short(cost.returns),
    cost.publishDollars.toFixed(3),
    cost.deliverDollars.toFixed(3),
    plain === undefined ? '' : (totalOf(cost) - totalOf(plain)).toFixed(3),
    verdict(cost.writes, goalOf(cost, goal)),
    verdict(cost.writes + cost.refused, goalOf(cost, goal)),
  ]);
  const head = [
    'lane',
    'messages',
    'publish calls',
    'deliver calls',
    'writes',
    'refused',
    'write units',
    'reads',
    'sends',
    'pumps',
    'returns',
    '$ publish',
    '$ deliver',
    '$ more',
    `≤ ${goal} writes, ${goal + tenantWrites} with many fair keys`,
    'with refused',
  ];
  console.log(`\nA message in a lane, ${where}\n\n${formatTable(head, rows)}`);
}

const verdict = (value: number, goal: number): string => (value <= goal ? 'met' : 'missed');

const totalOf = ({ publishDollars, deliverDollars }: LaneCost): number => publishDollars + deliverDollars;

const missed = (costs: readonly LaneCost[], goal: number, what: string): readonly string[] =>
  costs
    .filter((cost) => cost.writes > goalOf(cost, goal))
    .map(({ lane, writes }) => `A message that ${what} (${lane.name}) takes ${short(writes)} writes.`);

export function printLaneRows(rows: readonly LaneRow[]): void {
  const lines = rows.map(({ kind, leases, isLong, bytes, writeUnits }) => [
    kind,
    String(leases),
    isLong ? 'long' : 'empty',
    String(bytes),
    String(writeUnits),
    String(Math.floor(unitsInSecond / writeUnits)),
  ]);
  const head = ['lane', 'leases', 'line', 'bytes', 'write units', 'writes a second'];
  console.log(`\nThe row of a lane, and how many writes of it DynamoDB takes\n\n${formatTable(head, lines)}`);
}

/** On a local stage. Times depend on the machine, so only the reader judges them. */
const speedGoals = { messagesPerSecond: 20, gapMs: 100 } as const;

export function printLaneSpeeds(speeds: readonly LaneSpeed[]): void {
  const plain = speeds.find(({ lane }) => lane.name === 'none')?.messagesPerSecond ?? Number.NaN;
  const rows = speeds.map(({ lane, messages, messagesPerSecond: speed, gaps }) => [
    lane.name,
    String(messages),
    speed.toFixed(1),
    (speed / plain).toFixed(2),
    lane.parallelism === 1 ? verdict(-speed, -speedGoals.messagesPerSecond) : '',
    gaps?.medianMs.toFixed(0) ?? '',
    gaps?.worstMs.toFixed(0) ?? '',
    gaps === undefined ? '' : verdict(gaps.worstMs, speedGoals.gapMs),
  ]);
  const head = [
    'lane',
    'messages',
    'a second',
    'of none',
    `≥ ${speedGoals.messagesPerSecond}`,
    'gap ms',
    'worst',
    `≤ ${speedGoals.gapMs} ms`,
  ];
  console.log(
    `\nMessages through one lane of a local stage, to a destination that answers at once\n\n${formatTable(head, rows)}`,
  );
}
