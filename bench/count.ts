/** Counts what AWS bills for a message while the real handlers publish and deliver it. */
import { type BatchSize, batchSizes, type Bill, type BillLine } from '../verify/prices/bill.ts';
import { checkAnswer } from './answer.ts';
import { bodies, jsonBody, jsonBodyName, queueEvent } from './events.ts';
import type { Use } from './meter.ts';
import { isCounted } from './nowAndThen.ts';
import type { Fixture } from './fixture.ts';

interface Way {
  readonly messagesPerRequest: number;
  /** Whether requests pass API Gateway, which bills them. */
  readonly passesGateway: boolean;
  readonly eventFor: (fixture: Fixture, body: Buffer) => object;
}

const throughApi: Way = {
  messagesPerRequest: 1,
  passesGateway: true,
  eventFor: (fixture, body) => fixture.eventFor(body),
};

/** Lambda bills only the invocation, not the request to a function URL. */
const throughUrl: Way = {
  messagesPerRequest: 1,
  passesGateway: false,
  eventFor: (fixture, body) => fixture.urlEventFor(body),
};

export const batchCount = 100;
const inBatches: Way = {
  messagesPerRequest: batchCount,
  passesGateway: false,
  eventFor: (fixture, body) => fixture.batchEventFor(body, batchCount),
};

/** The number of averaged requests: a whole number of the steps in which usage is added up. */
const countedRequests = 60;

/**
 * Makes the bill for each body. Handlers are warm: they have read the secret, the account, the day's usage, and the APIs'
 * hosts.
 */
export async function countUses(fixture: Fixture): Promise<readonly Bill[]> {
  const bills: Bill[] = [];
  for (const [name, body] of bodies) bills.push(await billOf(fixture, name, body, throughApi));
  return bills;
}

/** Makes the bills of JSON messages through the publish URL: one or many per request. */
export async function countUrlUses(
  fixture: Fixture,
): Promise<{ readonly single: Bill; readonly batch: Bill }> {
  return {
    single: await billOf(fixture, jsonBodyName, jsonBody, throughUrl),
    batch: await billOf(fixture, jsonBodyName, jsonBody, inBatches),
  };
}

/** Lets both functions read what a process reads once, and learn their own host. Not counted. */
async function warmUp(fixture: Fixture, way: Way): Promise<void> {
  checkAnswer(await fixture.publish.invoke(way.eventFor(fixture, jsonBody)));
  checkAnswer(await fixture.deliver.invoke(queueEvent(await fixture.takeAttempts(way.messagesPerRequest))));
}

/** Whether a use counts for messages. Other occasional uses are the process's. */
const isOfMessages = (use: Use): boolean => isCounted(use) || use.what === 'UpdateItem usage';

/** Makes the bill of messages with a JSON body, for a way of publishing. */
export const countBody = (fixture: Fixture, body: Buffer, by: 'api' | 'url'): Promise<Bill> =>
  billOf(fixture, `${body.length / 1_024} KB of JSON`, body, by === 'api' ? throughApi : throughUrl);

async function billOf(fixture: Fixture, body: string, bytes: Buffer, way: Way): Promise<Bill> {
  const counted = countedRequests * way.messagesPerRequest;
  const groupOf = (size: BatchSize): number => Math.max(size, way.messagesPerRequest);
  await warmUp(fixture, way);
  for (let made = 0; made < counted; made += groupOf(10)) await messagesWay(fixture, bytes, way, 10);
  const lists = new Map<BatchSize, readonly Use[]>();
  for (const size of batchSizes) {
    const uses: Use[] = [];
    for (let made = 0; made < counted; made += groupOf(size)) {
      uses.push(...(await messagesWay(fixture, bytes, way, size)).filter(isOfMessages));
    }
    lists.set(size, uses);
  }
  return { body, lines: linesOf(lists, counted) };
}

/** Publishes enough messages to fill a request and a batch, and delivers them in batches of this size. */
async function messagesWay(
  fixture: Fixture,
  body: Buffer,
  way: Way,
  size: BatchSize,
): Promise<readonly Use[]> {
  const messages = Math.max(size, way.messagesPerRequest);
  const requests = messages / way.messagesPerRequest;
  const uses: Use[] = [];
  if (way.passesGateway)
    uses.push({ by: 'gateway', what: 'a request', unit: 'apiRequest', amount: requests });
  uses.push({ by: 'publish', what: 'its invocation', unit: 'lambdaRequest', amount: requests });
  uses.push(
    ...(await fixture.meter.measure('publish', async () => {
      for (let made = 0; made < requests; made += 1) {
        checkAnswer(await fixture.publish.invoke(way.eventFor(fixture, body)));
      }
    })),
  );
  for (let delivered = 0; delivered < messages; delivered += size) {
    const event = queueEvent(await fixture.takeAttempts(size));
    uses.push(
      // The event source mapping's calls of SQS are billed to the account.
      { by: 'queue', what: 'ReceiveMessage', unit: 'sqsRequest', amount: 1 },
      { by: 'deliver', what: 'its invocation', unit: 'lambdaRequest', amount: 1 },
      ...(await fixture.meter.measure('deliver', async () => {
        checkAnswer(await fixture.deliver.invoke(event));
      })),
      { by: 'queue', what: 'DeleteMessageBatch', unit: 'sqsRequest', amount: 1 },
    );
  }
  return uses;
}

/**
 * Adds up the uses by kind, per message. Lines are in the order of calls, but usage is last, because the message that adds it
 * up depends on previous counts.
 */
function linesOf(lists: ReadonlyMap<BatchSize, readonly Use[]>, counted: number): readonly BillLine[] {
  const total = (of: Use, size: BatchSize, read: (use: Use) => number): number =>
    (lists.get(size) ?? [])
      .filter(({ by, what, unit }) => by === of.by && what === of.what && unit === of.unit)
      .reduce((sum, use) => sum + read(use), 0) / counted;
  const amount = (of: Use, size: BatchSize): number => total(of, size, (use) => use.amount);
  const keyOf = ({ by, what, unit }: Use): string => `${by} ${what} ${unit}`;
  const kinds = new Map([...lists.values()].flat().map((use) => [keyOf(use), use]));
  const inOrder = [...kinds.values()].sort((a, b) => Number(isCounted(b)) - Number(isCounted(a)));
  return inOrder.map((use) => ({
    by: use.by,
    what: use.what,
    unit: use.unit,
    amounts: { 1: amount(use, 1), 10: amount(use, 10) },
    gbMonths: total(use, 10, ({ gbMonths = 0 }) => gbMonths),
  }));
}
