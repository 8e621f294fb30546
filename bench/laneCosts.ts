/** Counts what AWS bills for a message that passes a lane: a queue or a flow-control key. */
import { checkAnswer } from './answer.ts';
import { sum } from './figures.ts';
import { assumed } from '../verify/prices/estimate.ts';
import { apiEvent, jsonBody } from './events.ts';
import { startFleet, type Fleet, type HandedOut } from './fleet.ts';
import { refusedMark } from './dynamodbUses.ts';
import { pumpMark, returnMark, scheduledCall, type CountedUse, type Use } from './meter.ts';
import { isCounted } from './nowAndThen.ts';
import { dollarsPerMillion } from '../verify/prices/prices.ts';
import { destinationOf, type Fixture } from './fixture.ts';
import { unlimited } from './stageClient.ts';

/** A lane as in a row of the table. */
export interface LaneCase {
  readonly name: string;
  /** The most messages in flight; Infinity without a limit. */
  readonly parallelism: number;
  /** The name of a queue with this parallelism, if the lane is a queue. */
  readonly queueName?: string;
  /** The values of the two headers of flow control. */
  readonly flowControl?: { readonly key: string; readonly value: string };
  /** The number of fair keys, which its messages use in turn. */
  readonly fairKeys?: number;
}

const parallelisms = [1, 10, 100];

export const laneCases: readonly LaneCase[] = [
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
    flowControl: { key: `shop-${parallelism}`, value: `parallelism=${parallelism}` },
  })),
  {
    name: 'key, a rate only',
    parallelism: Infinity,
    // A rate that no message waits for.
    flowControl: { key: 'shop-rate', value: 'rate=1000000' },
  },
];

export type LaneCost = ReturnType<typeof costOf>;

export interface LaneCosts {
  readonly capacity: readonly LaneCost[];
  readonly waiting: readonly LaneCost[];
}

const messagesWithRoom = 10;
/** Twice as many as may be in flight, or 60. */
const messagesThatWait = ({ parallelism }: LaneCase): number => (parallelism === 100 ? 200 : 60);
/** Lambda's batch size if several messages are waiting. */
const fullBatch = 10;

export async function countLanes(fixture: Fixture): Promise<LaneCosts> {
  const fleet = await startFleet(fixture);
  const capacity: LaneCost[] = [];
  const waiting: LaneCost[] = [];
  const { token } = await fixture.makeAccount(unlimited);
  for (const lane of laneCases) {
    const traffic = await openLane(fixture, fleet, token, lane);
    capacity.push(await withCapacity(traffic));
    waiting.push(await withWaiting(traffic));
  }
  return { capacity, waiting };
}

interface Traffic {
  readonly fixture: Fixture;
  readonly fleet: Fleet;
  readonly lane: LaneCase;
  readonly publish: () => Promise<void>;
  readonly deliver: (batchSize: number) => Promise<HandedOut>;
}

async function openLane(fixture: Fixture, fleet: Fleet, token: string, lane: LaneCase): Promise<Traffic> {
  const { queueName, flowControl, parallelism, fairKeys } = lane;
  if (queueName !== undefined) {
    const queues = await fixture.load('queues');
    const body = Buffer.from(JSON.stringify({ queueName, parallelism }));
    checkAnswer(await queues.invoke(apiEvent({ token, route: '/v2/queues', pathParameters: {}, body })));
  }
  const inbox = fixture.receiver.inbox((_delivery, response) => {
    setTimeout(() => response.writeHead(200).end(), assumed.destinationMs);
  });
  const destination = destinationOf(inbox);
  const eventOf = (number: number) => ({
    token,
    route: queueName === undefined ? '/v2/publish/{destination+}' : '/v2/enqueue/{queueName}/{destination+}',
    pathParameters: { destination, ...(queueName !== undefined && { queueName }) },
    headers: {
      ...(flowControl !== undefined && {
        'Svc-Flow-Control-Key': flowControl.key,
        'Svc-Flow-Control-Value': flowControl.value,
      }),
      ...(fairKeys !== undefined && { 'Svc-Fair-Key': `customer-${number % fairKeys}` }),
    },
    body: jsonBody,
  });
  let published = 0;
  const traffic: Traffic = {
    fixture,
    fleet,
    lane,
    publish: async () => {
      checkAnswer(await fixture.publish.invoke(apiEvent(eventOf(published))));
      published += 1;
    },
    deliver: async (batchSize) => {
      const handedOut = await fleet.work(batchSize, () => inbox.deliveries.length >= published);
      // Later jobs have nothing to do.
      fleet.purge();
      return handedOut;
    },
  };
  // Processes are warm: they have read the secret, the account and the APIs' hosts.
  fleet.purge();
  for (let number = 0; number < fleet.size; number += 1) await traffic.publish();
  await traffic.deliver(1);
  return traffic;
}

/** Measures messages that arrive one after another, so that each finds a free slot. */
async function withCapacity({ fixture, lane, publish, deliver }: Traffic): Promise<LaneCost> {
  const uses: CountedUse[][] = [];
  let handedOut: HandedOut = { invocations: 0, pumps: 0 };
  for (let number = 0; number < messagesWithRoom; number += 1) {
    uses.push([...(await fixture.meter.measure('publish', publish))]);
    const delivered = await fixture.meter.measure('deliver', async () => {
      handedOut = sumOf(handedOut, await deliver(1));
    });
    uses.push([...delivered]);
  }
  return costOf(lane, messagesWithRoom, uses, handedOut);
}

/** All are published before the first is delivered. */
async function withWaiting({ fixture, lane, publish, deliver }: Traffic): Promise<LaneCost> {
  const messages = messagesThatWait(lane);
  const published = await fixture.meter.measure('publish', async () => {
    for (let number = 0; number < messages; number += 1) await publish();
  });
  let handedOut: HandedOut = { invocations: 0, pumps: 0 };
  const delivered = await fixture.meter.measure('deliver', async () => {
    handedOut = await deliver(fullBatch);
  });
  return costOf(lane, messages, [published, delivered], handedOut);
}

const sumOf = (one: HandedOut, other: HandedOut): HandedOut => ({
  invocations: one.invocations + other.invocations,
  pumps: one.pumps + other.pumps,
});

const isLane = ({ what }: Use): boolean => / lanes \((queue|key)\)/.test(what);
const isWrite = ({ unit }: Use): boolean => unit === 'dynamoWrite';
const isRead = ({ unit }: Use): boolean => unit === 'dynamoRead';
const isPump = ({ what }: Use): boolean => what.endsWith(pumpMark) || what === scheduledCall;
const isReturn = ({ what }: Use): boolean => what.endsWith(returnMark);
const isSend = (use: Use): boolean => use.unit === 'sqsRequest' && !isPump(use) && !isReturn(use);
const isRefused = ({ what }: Use): boolean => what.endsWith(refusedMark);

/**
 * Adds up the measurements, and what AWS bills in addition.
 *
 * @returns the averages of some messages, in a lane with capacity, or in one where most wait; dollars are for a million
 */
function costOf(
  lane: LaneCase,
  messages: number,
  measured: readonly (readonly CountedUse[])[],
  { invocations, pumps: pumpsHandedOut }: HandedOut,
) {
  const counted = measured.map((uses) => uses.filter(isCounted));
  const uses = counted.flat();
  const callsBy = (by: string): number =>
    sum(counted.map((some) => new Set(some.filter((use) => use.by === by).map(({ call }) => call)).size));
  const onLane = uses.filter(isLane);
  const writes = onLane.filter(isWrite);
  const pumps = uses.filter(isPump).length;
  // A pump that is due later runs alone, and reads an empty lane.
  const later = pumps - pumpsHandedOut;
  const bill: readonly Use[] = [
    { by: 'publish', what: 'a request', unit: 'apiRequest', amount: messages },
    { by: 'publish', what: 'its invocation', unit: 'lambdaRequest', amount: messages },
    ...uses,
    // The event source mapping receives and deletes.
    { by: 'deliver', what: 'a batch', unit: 'sqsRequest', amount: 2 * (invocations + later) },
    { by: 'deliver', what: 'its invocation', unit: 'lambdaRequest', amount: invocations + later },
    { by: 'deliver', what: 'the lane of a pump', unit: 'dynamoRead', amount: later },
  ];
  const dollarsBy = (wanted: string): number =>
    sum(bill.flatMap(({ by, unit, amount }) => (by === wanted ? [dollarsPerMillion(unit, amount)] : []))) /
    messages;
  return {
    lane,
    messages,
    publishCalls: callsBy('publish') / messages,
    deliverCalls: callsBy('deliver') / messages,
    /** Requests that wrote a lane or a page of its line. */
    writes: writes.filter((use) => !isRefused(use)).length / messages,
    writeUnits: sum(writes.map(({ amount }) => amount)) / messages,
    /** Requests to write that failed because another process had changed the lane. */
    refused: writes.filter(isRefused).length / messages,
    reads: onLane.filter(isRead).length / messages,
    sends: uses.filter(isSend).length / messages,
    pumps: pumps / messages,
    /** Attempts that went back to their queue because the lane kept changing. */
    returns: uses.filter(isReturn).length / messages,
    publishDollars: dollarsBy('publish'),
    deliverDollars: dollarsBy('deliver'),
  };
}
