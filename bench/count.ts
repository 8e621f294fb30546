/** Counts what AWS bills for a message, while the real handlers publish and deliver it. */
import { checkAnswer } from './answer.ts';
import { bodies, jsonBody, queueEvent } from './events.ts';
import type { Use } from './meter.ts';
import { dollarsPerMillion, type Unit } from './prices.ts';
import type { World } from './world.ts';

/** The number of attempts that one invocation of deliver gets: one where little happens, ten under load. */
export const batchSizes = [1, 10] as const;
export type BatchSize = (typeof batchSizes)[number];

/** One line of a message's bill. */
export interface BillLine {
  readonly by: string;
  readonly what: string;
  readonly unit: Unit;
  /** Units for each message, by the size of the batches that they are delivered in. */
  readonly amounts: Readonly<Record<BatchSize, number>>;
}

export interface Bill {
  /** The kind of body, as the tables call it. */
  readonly body: string;
  readonly lines: readonly BillLine[];
}

/** Dollars for a million messages. */
export const totalOf = ({ lines }: Bill, size: BatchSize): number =>
  lines.reduce((sum, { unit, amounts }) => sum + dollarsPerMillion(unit, amounts[size]), 0);

/**
 * The number of messages whose average is billed. Usage is added up once for several messages, in steps that are shortest at the
 * beginning of an account's day, and this is a whole number of such steps.
 */
const counted = 60;

/**
 * Makes the bill of each body. Every handler is warm: it has read its secret, the usage of the day and the hosts of the APIs,
 * which it does once in minutes, and deliver has read the account, which it does once in ten seconds.
 */
export async function countUses(world: World): Promise<readonly Bill[]> {
  const bills: Bill[] = [];
  await warmUp(world);
  for (const [name, body] of bodies) {
    for (let made = 0; made < counted; made += 10) await messagesWay(world, body, 10);
    const lists = new Map<BatchSize, readonly Use[]>();
    for (const size of batchSizes) {
      const uses: Use[] = [];
      for (let made = 0; made < counted; made += size) uses.push(...(await messagesWay(world, body, size)));
      lists.set(size, uses);
    }
    bills.push({ body: name, lines: linesOf(lists) });
  }
  return bills;
}

/** Lets both functions read what a process reads once. It is not counted. */
async function warmUp(world: World): Promise<void> {
  checkAnswer(await world.publish.invoke(world.eventFor(jsonBody)));
  checkAnswer(await world.deliver.invoke(queueEvent(await world.takeAttempts(1))));
}

/** Publishes messages and delivers them in one batch of that size. */
async function messagesWay(world: World, body: Buffer, size: BatchSize): Promise<readonly Use[]> {
  const published = await world.meter.measure('publish', async () => {
    for (let made = 0; made < size; made += 1) checkAnswer(await world.publish.invoke(world.eventFor(body)));
  });
  const event = queueEvent(await world.takeAttempts(size));
  const delivered = await world.meter.measure('deliver', async () => {
    checkAnswer(await world.deliver.invoke(event));
  });
  return [
    { by: 'gateway', what: 'a request', unit: 'apiRequest', amount: size },
    { by: 'publish', what: 'its invocation', unit: 'lambdaRequest', amount: size },
    ...published,
    // The event source mapping calls SQS on the account's bill.
    { by: 'queue', what: 'ReceiveMessage', unit: 'sqsRequest', amount: 1 },
    { by: 'deliver', what: 'its invocation', unit: 'lambdaRequest', amount: 1 },
    ...delivered,
    { by: 'queue', what: 'DeleteMessageBatch', unit: 'sqsRequest', amount: 1 },
  ];
}

/** Adds up the uses of each kind, in the order of the first of the kind, and divides them by the number of messages. */
function linesOf(lists: ReadonlyMap<BatchSize, readonly Use[]>): readonly BillLine[] {
  const amount = (of: Use, size: BatchSize): number =>
    (lists.get(size) ?? [])
      .filter(({ by, what, unit }) => by === of.by && what === of.what && unit === of.unit)
      .reduce((sum, use) => sum + use.amount, 0) / counted;
  const keyOf = ({ by, what, unit }: Use): string => `${by} ${what} ${unit}`;
  const kinds = new Map([...lists.values()].flat().map((use) => [keyOf(use), use]));
  return [...kinds.values()].map((use) => ({
    by: use.by,
    what: use.what,
    unit: use.unit,
    amounts: { 1: amount(use, 1), 10: amount(use, 10) },
  }));
}
