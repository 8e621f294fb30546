/** The things that may become large: the messages that wait for their delivery, the dead letter queue, and the line of a queue. */
import { checkAnswer } from '../answer.ts';
import { apiEvent, jsonBody, queueEvent } from '../events.ts';
import type { DeadLetter } from '../../lambdas/deadLetter/rows.ts';
import type { Inbox } from '../../test/support/receiver.ts';
import type { Account, World } from '../world.ts';

/** A place for many messages, and a way for one more to pass it. */
export interface Scene {
  /** As the tables call it. */
  readonly name: string;
  /** The event of a request that publishes one message. */
  readonly event: object;
  /** Attempts that one invocation of deliver gets. */
  readonly batchSize: number;
  /** Adds so many, a multiple of a hundred. */
  fill(count: number): Promise<void>;
}

/** Messages of one request. */
const fillAtOnce = 100;
/** Dead letters that are written side by side. */
const copiesAtOnce = 20;
const mostDeadLetters = 10_000_000;

/** An account of its own, whose limits are out of the way. */
const openAccount = (world: World): Promise<Account> =>
  world.makeAccount({
    type: 'paid',
    max_global_parallelism: 100_000,
    max_requests_per_second: 2_000,
    max_bandwidth_per_second: 1_000_000_000_000,
    max_dlq_size: mostDeadLetters,
  });

/** As long as a real one: it stands in the message's row, which is billed by its size. */
const destinationOf = ({ url }: Inbox): string => `${url}/hooks/orders/paid?tenant=acme-shop`;

/** Fills with batches of messages, which are all alike. */
function batchesOf(world: World, token: string, item: object): Scene['fill'] {
  const items = Array.from({ length: fillAtOnce }, () => item);
  const body = Buffer.from(JSON.stringify(items));
  const event = apiEvent({ token, route: '/v2/batch', pathParameters: {}, body });
  return async (count) => {
    for (let made = 0; made < count; made += fillAtOnce) checkAnswer(await world.publish.invoke(event));
  };
}

const jsonHeaders = { 'Content-Type': 'application/json' };

async function openWaiting(world: World): Promise<Scene> {
  const { token } = await openAccount(world);
  const destination = destinationOf(world.receiver.inbox());
  const route = '/v2/publish/{destination+}';
  return {
    name: 'that wait for their delivery',
    event: apiEvent({ token, route, pathParameters: { destination }, body: jsonBody }),
    batchSize: 10,
    fill: batchesOf(world, token, { destination, headers: jsonHeaders, body: jsonBody.toString() }),
  };
}

/** Each message joins the line of a queue, and its delivery admits the one at the line's head. */
async function openLine(world: World): Promise<Scene> {
  const { token } = await openAccount(world);
  const destination = destinationOf(world.receiver.inbox());
  const queueName = 'orders';
  const route = '/v2/enqueue/{queueName}/{destination+}';
  return {
    name: 'in the line of a queue',
    event: apiEvent({ token, route, pathParameters: { queueName, destination }, body: jsonBody }),
    // At a parallelism of 1.
    batchSize: 1,
    fill: batchesOf(world, token, {
      destination,
      headers: jsonHeaders,
      body: jsonBody.toString(),
      queue: queueName,
    }),
  };
}

/** Each message fails at its only attempt. */
async function openDeadLetters(world: World): Promise<Scene> {
  const { id, token } = await openAccount(world);
  const inbox = world.receiver.inbox((_delivery, response) =>
    response.writeHead(500).end('{"error":"down"}'),
  );
  const event = apiEvent({
    token,
    route: '/v2/publish/{destination+}',
    pathParameters: { destination: destinationOf(inbox) },
    headers: { 'Svc-Retries': '0' },
    body: jsonBody,
  });
  checkAnswer(await world.publish.invoke(event));
  checkAnswer(await world.deliver.invoke(queueEvent(await world.takeAttempts(1))));
  return { name: 'in the dead letter queue', event, batchSize: 10, fill: await copiesOfDeadLetter(id) };
}

/** Writes dead letters as a delivery does, all like the one that an account has. */
async function copiesOfDeadLetter(accountId: string): Promise<Scene['fill']> {
  // These modules read the environment.
  const { listDeadLetters, putDeadLetter } = await import('../../lambdas/deadLetter/rows.ts');
  const { keepToSize } = await import('../../lambdas/deadLetter/size.ts');
  const { shardsOf } = await import('../../lambdas/table/shards.ts');
  const { newId } = await import('../../lambdas/shared/ids.ts');
  const { loadAccount } = await import('../../lambdas/account/accounts.ts');
  const { eachOf } = await import('../../lambdas/shared/lists.ts');
  const account = await loadAccount(accountId, true);
  if (account === undefined) throw new Error('The account of the scene is away.');
  const there: DeadLetter[] = [];
  for (const shard of shardsOf(account)) {
    for await (const { deadLetter } of listDeadLetters(shard, {}, Date.now())) {
      if (deadLetter !== undefined) there.push(deadLetter);
    }
  }
  const [first] = there;
  if (first === undefined) throw new Error('The message that was to fail has no dead letter.');
  return (count) =>
    eachOf(Array.from({ length: count }), copiesAtOnce, async () => {
      await putDeadLetter({ ...first, dlqId: newId('dlq', Date.now(), account.shards) });
      await keepToSize(account, first.expiresAt, mostDeadLetters);
    });
}

export const scenes: readonly ((world: World) => Promise<Scene>)[] = [openWaiting, openDeadLetters, openLine];
