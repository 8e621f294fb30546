/** Backlogs: waiting messages, the dead letter queue, and a queue's line. */
import { checkAnswer } from '../answer.ts';
import { apiEvent, jsonBody, queueEvent } from '../events.ts';
import type { DeadLetter } from '../../lambdas/deadLetter/rows.ts';
import { type Account, destinationOf, type Fixture } from '../fixture.ts';
import { unlimited } from '../stageClient.ts';

/** A backlog of messages, and a way to send one more message past it. */
export interface Backlog {
  readonly name: string;
  readonly event: object;
  readonly batchSize: number;
  /** Adds messages, a multiple of a hundred. */
  fill(count: number): Promise<void>;
}

const fillAtOnce = 100;
const copiesAtOnce = 20;
const mostDeadLetters = 10_000_000;

/** A separate account with limits that have no effect. */
export const openAccount = (fixture: Fixture): Promise<Account> =>
  fixture.makeAccount({
    ...unlimited,
    max_bandwidth_per_second: 1_000_000_000_000,
    max_dlq_size: mostDeadLetters,
  });

function batchesOf(fixture: Fixture, token: string, item: object): Backlog['fill'] {
  const items = Array.from({ length: fillAtOnce }, () => item);
  const body = Buffer.from(JSON.stringify(items));
  const event = apiEvent({ token, route: '/v2/batch', pathParameters: {}, body });
  return async (count) => {
    for (let made = 0; made < count; made += fillAtOnce) checkAnswer(await fixture.publish.invoke(event));
  };
}

/** @param queue in whose line the messages wait, if any */
const openWaiting =
  (name: string, batchSize: number, queue?: string) =>
  async (fixture: Fixture): Promise<Backlog> => {
    const { token } = await openAccount(fixture);
    const destination = destinationOf(fixture.receiver.inbox());
    const place = queue === undefined ? '/v2/publish' : '/v2/enqueue/{queueName}';
    const route = `${place}/{destination+}`;
    const pathParameters = { destination, ...(queue !== undefined && { queueName: queue }) };
    const headers = { 'Content-Type': 'application/json' };
    return {
      name,
      event: apiEvent({ token, route, pathParameters, body: jsonBody }),
      batchSize,
      fill: batchesOf(fixture, token, { destination, headers, body: jsonBody.toString(), queue }),
    };
  };

async function openDeadLetters(fixture: Fixture): Promise<Backlog> {
  const { id, token } = await openAccount(fixture);
  const inbox = fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(500).end('{"error":"down"}'),
  );
  const event = apiEvent({
    token,
    route: '/v2/publish/{destination+}',
    pathParameters: { destination: destinationOf(inbox) },
    headers: { 'Svc-Retries': '0' },
    body: jsonBody,
  });
  checkAnswer(await fixture.publish.invoke(event));
  checkAnswer(await fixture.deliver.invoke(queueEvent(await fixture.takeAttempts(1))));
  return { name: 'in the dead letter queue', event, batchSize: 10, fill: await copiesOfDeadLetter(id) };
}

/** Writes copies of an account's dead letter, as a delivery does. */
async function copiesOfDeadLetter(accountId: string): Promise<Backlog['fill']> {
  // These modules read the environment.
  const { listDeadLetters, putDeadLetter } = await import('../../lambdas/deadLetter/rows.ts');
  const { keepToSize } = await import('../../lambdas/deadLetter/size.ts');
  const { shardsOf } = await import('../../lambdas/table/shards.ts');
  const { newId } = await import('../../lambdas/shared/ids.ts');
  const { loadAccount } = await import('../../lambdas/account/accounts.ts');
  const { eachOf } = await import('../../lambdas/shared/lists.ts');
  const account = await loadAccount(accountId, true);
  if (account === undefined) throw new Error('The account with the backlog is gone.');
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

export const backlogs: readonly ((fixture: Fixture) => Promise<Backlog>)[] = [
  openWaiting('that wait for their delivery', 10),
  openDeadLetters,
  // Each message joins the line of a queue with a parallelism of 1, and its delivery admits the next one.
  openWaiting('in the line of a queue', 1, 'orders'),
];
