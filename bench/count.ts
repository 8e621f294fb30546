/** Counts what AWS bills for a message while the real handlers publish and deliver it. */
import type { BatchSize, Bill } from '../verify/prices/bill.ts';
import { checkAnswer } from './answer.ts';
import { invocationUse, isCounted, linesOf, ofBatch, requestUse } from './bills.ts';
import { jsonBody, queueEvent } from './events.ts';
import type { Use } from './meter.ts';
import type { Fixture } from './fixture.ts';

interface Way {
  readonly messagesPerRequest: number;
  /**
   * Whether requests pass API Gateway, which bills them. With a function URL, only Lambda's invocation is
   * billed.
   */
  readonly passesGateway: boolean;
  readonly eventFor: (fixture: Fixture, body: Buffer) => object;
}

export const batchCount = 100;

/** The ways of publishing: through the API, and through the publish URL, with one or many messages per request. */
const ways = {
  api: { messagesPerRequest: 1, passesGateway: true, eventFor: (to, body) => to.eventFor(body) },
  url: { messagesPerRequest: 1, passesGateway: false, eventFor: (to, body) => to.urlEventFor(body) },
  batch: {
    messagesPerRequest: batchCount,
    passesGateway: false,
    eventFor: (to, body) => to.batchEventFor(body, batchCount),
  },
} satisfies Readonly<Record<string, Way>>;
export type By = keyof typeof ways;

/** The number of requests that an average is over: a multiple of the step in which usage is reported. */
const countedRequests = 60;

/** Whether a call is counted for messages. Other occasional calls are counted for processes. */
const isOfMessages = (use: Use): boolean => isCounted(use) || use.what === 'UpdateItem usage';

/**
 * Makes the bill of messages with a body. Handlers are warm: they have read the secret, the account, today's
 * usage, and the hosts of the APIs.
 */
export async function countBody(
  fixture: Fixture,
  body: Buffer,
  by: By,
  name = `${body.length / 1_024} KB of JSON`,
): Promise<Bill> {
  const way: Way = ways[by];
  const counted = countedRequests * way.messagesPerRequest;
  const usesOf = async (size: BatchSize): Promise<readonly Use[]> => {
    const uses: Use[] = [];
    for (let made = 0; made < counted; made += Math.max(size, way.messagesPerRequest))
      uses.push(...(await passMessages(fixture, body, way, size)).filter(isOfMessages));
    return uses;
  };
  // Both functions read everything that a process reads once, and learn their own host.
  checkAnswer(await fixture.publish.invoke(way.eventFor(fixture, jsonBody)));
  checkAnswer(await fixture.deliver.invoke(queueEvent(await fixture.takeAttempts(way.messagesPerRequest))));
  await usesOf(10);
  return { body: name, lines: linesOf({ 1: await usesOf(1), 10: await usesOf(10) }, counted) };
}

/** Publishes enough messages to fill a request and a batch, and delivers them in batches of this size. */
async function passMessages(
  fixture: Fixture,
  body: Buffer,
  way: Way,
  size: BatchSize,
): Promise<readonly Use[]> {
  const messages = Math.max(size, way.messagesPerRequest);
  const requests = messages / way.messagesPerRequest;
  const uses: Use[] = way.passesGateway ? [requestUse(requests)] : [];
  uses.push(invocationUse('publish', requests));
  for (let made = 0; made < requests; made += 1)
    uses.push(...(await fixture.measure('publish', way.eventFor(fixture, body))));
  for (let delivered = 0; delivered < messages; delivered += size)
    uses.push(...ofBatch(await fixture.measureDelivery(size)));
  return uses;
}
