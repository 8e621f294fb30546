/** Counts what AWS bills for a message that passes a lane: a queue or a flow-control key. */
import { assumed } from '../verify/prices/estimate.ts';
import { checkAnswer } from './answer.ts';
import { callsOf, dollarsOf, invocationUse, isCounted, requestUse } from './bills.ts';
import { refusedMark } from './dynamodbUses.ts';
import { apiEvent, jsonBody } from './events.ts';
import { sum } from './figures.ts';
import { destinationOf, type Fixture } from './fixture.ts';
import { fleetSize, startFleet, type Fleet } from './fleet.ts';
import { pumpMark, returnMark, scheduledCall, type CountedUse, type Use } from './meter.ts';
import { unlimited } from './stageClient.ts';
import { printTable, short, verdict } from './table.ts';

interface LaneCase {
  readonly name: string;
  /** The most messages in flight; Infinity without a limit. */
  readonly parallelism: number;
  readonly queueName?: string;
  /** The number of fair keys, which its messages use in turn. */
  readonly fairKeys?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const keyHeaders = (key: string, value: string) => ({
  'Svc-Flow-Control-Key': key,
  'Svc-Flow-Control-Value': value,
});

const parallelisms = [1, 10, 100];

const laneCases: readonly LaneCase[] = [
  { name: 'none', parallelism: Infinity },
  ...parallelisms.map((parallelism) => ({
    name: `queue, parallelism ${parallelism}`,
    parallelism,
    queueName: `orders-${parallelism}`,
  })),
  ...[4, 30].map((fairKeys) => ({
    name: `queue, parallelism 1, ${fairKeys} fair keys`,
    parallelism: 1,
    queueName: `fair-${fairKeys}`,
    fairKeys,
  })),
  ...parallelisms.map((parallelism) => ({
    name: `key, parallelism ${parallelism}`,
    parallelism,
    headers: keyHeaders(`shop-${parallelism}`, `parallelism=${parallelism}`),
  })),
  // A rate that no message waits for.
  { name: 'key, a rate only', parallelism: Infinity, headers: keyHeaders('shop-rate', 'rate=1000000') },
];

/** The ways in which the messages of a lane arrive, and the writes that the lane may add to a message. */
const ways = {
  capacity: { title: 'where it finds capacity, one message after another', what: 'finds capacity', goal: 2 },
  waiting: { title: 'where all are published before the first is delivered', what: 'waits', goal: 4 },
} as const;

/**
 * A tenant that is not in the lane's row has a row, which is written when a message joins and leaves, and at
 * its turn.
 */
const tenantWrites = 1;
const keptTenants = 4;

/** Prints what lanes cost. @returns the missed goals */
export async function printLanes(fixture: Fixture): Promise<readonly string[]> {
  const fleet = await startFleet(fixture);
  const costs: Record<keyof typeof ways, LaneCost[]> = { capacity: [], waiting: [] };
  const { token } = await fixture.makeAccount(unlimited);
  for (const lane of laneCases) {
    const traffic = await openLane(fixture, fleet, token, lane);
    costs.capacity.push(await traffic.costOf({ rounds: 10, messages: 1, batchSize: 1 }));
    // Twice as many as may be in flight, or 60. If several are waiting, in batches as Lambda makes them.
    const messages = lane.parallelism === 100 ? 200 : 60;
    costs.waiting.push(await traffic.costOf({ rounds: 1, messages, batchSize: 10 }));
  }
  printCosts('capacity', costs.capacity);
  printCosts('waiting', costs.waiting);
  return [...missed('capacity', costs.capacity), ...missed('waiting', costs.waiting)];
}

interface Rounds {
  readonly rounds: number;
  readonly messages: number;
  readonly batchSize: number;
}

async function openLane(fixture: Fixture, fleet: Fleet, token: string, lane: LaneCase) {
  const { queueName, parallelism, fairKeys, headers } = lane;
  if (queueName !== undefined) {
    const queues = await fixture.load('queues');
    const body = Buffer.from(JSON.stringify({ queueName, parallelism }));
    checkAnswer(await queues.invoke(apiEvent({ token, route: '/v2/queues', pathParameters: {}, body })));
  }
  const inbox = fixture.receiver.inbox((_delivery, response) => {
    setTimeout(() => response.writeHead(200).end(), assumed.destinationMs);
  });
  const place = queueName === undefined ? '/v2/publish' : '/v2/enqueue/{queueName}';
  let published = 0;
  const publish = async (messages: number): Promise<void> => {
    for (let made = 0; made < messages; made += 1) {
      const event = apiEvent({
        token,
        route: `${place}/{destination+}`,
        pathParameters: { destination: destinationOf(inbox), ...(queueName !== undefined && { queueName }) },
        headers: {
          ...headers,
          ...(fairKeys !== undefined && { 'Svc-Fair-Key': `customer-${published % fairKeys}` }),
        },
        body: jsonBody,
      });
      checkAnswer(await fixture.publish.invoke(event));
      published += 1;
    }
  };
  const deliver = async (batchSize: number) => {
    const handedOut = await fleet.work(batchSize, () => inbox.deliveries.length >= published);
    // The other jobs find nothing to do.
    fixture.purge();
    return handedOut;
  };
  // Processes are warm: they have read the secret, the account and the APIs' hosts.
  fixture.purge();
  await publish(fleetSize);
  await deliver(1);
  return {
    costOf: async ({ rounds, messages, batchSize }: Rounds) => {
      const uses: (readonly CountedUse[])[] = [];
      let invocations = 0;
      let pumps = 0;
      for (let round = 0; round < rounds; round += 1) {
        uses.push(await fixture.meter.measure('publish', () => publish(messages)));
        const work = async (): Promise<void> => {
          const handedOut = await deliver(batchSize);
          invocations += handedOut.invocations;
          pumps += handedOut.pumps;
        };
        uses.push(await fixture.meter.measure('deliver', work));
      }
      return costOf(lane, rounds * messages, uses, { invocations, pumps });
    },
  };
}

const isLane = ({ what }: Use): boolean => / lanes \((queue|key)\)/.test(what);
const isPump = ({ what }: Use): boolean => what.endsWith(pumpMark) || what === scheduledCall;
const isReturn = ({ what }: Use): boolean => what.endsWith(returnMark);
const isSend = (use: Use): boolean => use.unit === 'sqsRequest' && !isPump(use) && !isReturn(use);
const isRefused = ({ what }: Use): boolean => what.endsWith(refusedMark);

type LaneCost = ReturnType<typeof costOf>;

/**
 * Adds up the measurements, and what AWS bills in addition.
 *
 * @returns the averages of some messages, in a lane with capacity, or in one where most wait; dollars are for a million
 */
function costOf(
  lane: LaneCase,
  messages: number,
  measured: readonly (readonly CountedUse[])[],
  { invocations, pumps: pumpsHandedOut }: Awaited<ReturnType<Fleet['work']>>,
) {
  const counted = measured.map((uses) => uses.filter(isCounted));
  const uses = counted.flat();
  const callsBy = (wanted: string): number =>
    sum(counted.map((some) => callsOf(some.filter(({ by }) => by === wanted)))) / messages;
  const onLane = uses.filter(isLane);
  const writes = onLane.filter(({ unit }) => unit === 'dynamoWrite');
  const pumps = uses.filter(isPump).length;
  // A pump that is due later runs alone, and finds an empty line.
  const later = pumps - pumpsHandedOut;
  const bill: readonly Use[] = [
    { ...requestUse(messages), by: 'publish' },
    invocationUse('publish', messages),
    ...uses,
    // The event source mapping receives and deletes.
    { by: 'deliver', what: 'a batch', unit: 'sqsRequest', amount: 2 * (invocations + later) },
    invocationUse('deliver', invocations + later),
    { by: 'deliver', what: 'the lane of a pump', unit: 'dynamoRead', amount: later },
  ];
  const dollarsBy = (wanted: string): number => dollarsOf(bill.filter(({ by }) => by === wanted)) / messages;
  return {
    lane,
    messages,
    publishCalls: callsBy('publish'),
    deliverCalls: callsBy('deliver'),
    /** Requests that wrote a lane or a page of its line. */
    writes: writes.filter((use) => !isRefused(use)).length / messages,
    writeUnits: sum(writes.map(({ amount }) => amount)) / messages,
    /** Requests to write that failed because another process had changed the lane. */
    refused: writes.filter(isRefused).length / messages,
    reads: onLane.filter(({ unit }) => unit === 'dynamoRead').length / messages,
    sends: uses.filter(isSend).length / messages,
    pumps: pumps / messages,
    /** Attempts that went back to their queue because the lane kept changing. */
    returns: uses.filter(isReturn).length / messages,
    publishDollars: dollarsBy('publish'),
    deliverDollars: dollarsBy('deliver'),
  };
}

const goalOf = ({ lane: { fairKeys = 0 } }: LaneCost, goal: number): number =>
  fairKeys > keptTenants ? goal + tenantWrites : goal;

function printCosts(way: keyof typeof ways, costs: readonly LaneCost[]): void {
  const { title, goal } = ways[way];
  const plain = costs.find(({ lane }) => lane.name === 'none');
  const totalOf = ({ publishDollars, deliverDollars }: LaneCost): number => publishDollars + deliverDollars;
  printTable(`A message in a lane, ${title}`, costs, [
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
    // Refused writes depend on timing and the machine, so they are not checked.
    ['with refused', (cost) => verdict(cost.writes + cost.refused, goalOf(cost, goal))],
  ]);
}

const missed = (way: keyof typeof ways, costs: readonly LaneCost[]): readonly string[] =>
  costs
    .filter((cost) => cost.writes > goalOf(cost, ways[way].goal))
    .map(
      ({ lane, writes }) => `A message that ${ways[way].what} (${lane.name}) takes ${short(writes)} writes.`,
    );
