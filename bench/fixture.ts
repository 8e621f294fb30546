/** The environment of a measurement: stand-ins for AWS, an account, and a destination that answers 200. */
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type Message } from '@aws-sdk/client-sqs';
import type { FunctionName } from '../local/lambda/handlers.ts';
import { loadFunction, type LambdaFunction } from '../local/lambda/lambda.ts';
import { startInProcess } from '../test/support/inProcess.ts';
import { type Inbox, startReceiver, type Receiver } from '../test/support/receiver.ts';
import type { StandIns } from '../local/stage/standIns.ts';
import { checkAnswer } from './answer.ts';
import { apiEvent, queueEvent, urlEvent } from './events.ts';
import { attachMeter, type CountedUse, type Meter } from './meter.ts';

export interface Account {
  readonly id: string;
  readonly token: string;
}

export interface Fixture {
  readonly publish: LambdaFunction;
  readonly deliver: LambdaFunction;
  readonly meter: Meter;
  readonly standIns: StandIns;
  readonly receiver: Receiver;
  load(name: FunctionName): Promise<LambdaFunction>;
  makeAccount(fields: object): Promise<Account>;
  /** The event of a request that publishes a body through the API. */
  eventFor(body: Buffer): object;
  /** The event of a request that publishes a JSON body through the publish URL. */
  urlEventFor(body: Buffer): object;
  /** The event of a request that publishes a JSON body `count` times through the publish URL. */
  batchEventFor(body: Buffer, count: number): object;
  /**
   * Takes attempts from their queues.
   *
   * @throws Error if there are too few
   */
  takeAttempts(count: number): Promise<readonly Message[]>;
  measure(handler: 'publish' | 'deliver', event: object): Promise<readonly CountedUse[]>;
  measureDelivery(count: number): Promise<readonly CountedUse[]>;
  /** Drops waiting attempts, so that they are not delivered in the next measurement. */
  readonly purge: () => void;
  readonly close: () => Promise<void>;
}

/** A URL of realistic length: it is in the message's row, which is billed by size. */
export const destinationOf = ({ url }: Inbox): string => `${url}/hooks/orders/paid?tenant=acme-shop`;

export const deliveryQueues = ['short', 'long'] as const;

export async function startFixture(): Promise<Fixture> {
  const inProcess = await startInProcess({ overHttp: true });
  const { standIns } = inProcess;
  const { queues } = standIns.sqs;
  // These modules read the environment, which was set just before.
  const { dynamodb } = await import('../lambdas/aws/dynamodb.ts');
  const { sqs } = await import('../lambdas/aws/sqs.ts');
  const load = (name: FunctionName) => loadFunction(name, { region: 'us-east-1', timeoutMs: 60_000 });
  const [publish, deliver] = await Promise.all([load('publish'), load('deliver')]);
  const { createAccount } = await import('../lambdas/management/accounts.ts');
  const makeAccount = (fields: object): Promise<Account> =>
    createAccount(Buffer.from(JSON.stringify(fields)));
  const { token } = await makeAccount({ type: 'paid' });
  const receiver = await startReceiver();
  const url = destinationOf(receiver.inbox());

  const toDestination = { token, route: '/v2/publish/{destination+}', pathParameters: { destination: url } };

  const meter = attachMeter({ dynamodb, sqs }, standIns);

  const functions = { publish, deliver };
  const measure: Fixture['measure'] = (handler, event) =>
    meter.measure(handler, async () => {
      checkAnswer(await functions[handler].invoke(event));
    });
  const take = async (queue: (typeof deliveryQueues)[number], most: number): Promise<readonly Message[]> => {
    const QueueUrl = standIns.sqs.queueUrl(queue);
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: Math.min(10, most) }),
    );
    if (Messages.length === 0) return [];
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    return Messages;
  };
  const takeAttempts: Fixture['takeAttempts'] = async (count) => {
    const taken: Message[] = [];
    for (const queue of deliveryQueues) {
      for (let more = true; more && taken.length < count;) {
        const messages = await take(queue, count - taken.length);
        taken.push(...messages);
        more = messages.length > 0;
      }
    }
    if (taken.length < count) throw new Error(`There are ${taken.length} attempts, not ${count}.`);
    return taken;
  };

  return {
    ...functions,
    meter,
    standIns,
    receiver,
    load,
    makeAccount,
    eventFor: (body) => apiEvent({ ...toDestination, body }),
    urlEventFor: (body) => urlEvent({ ...toDestination, body }),
    batchEventFor: (body, count) => {
      const item = {
        destination: url,
        body: body.toString(),
        headers: { 'Content-Type': 'application/json' },
      };
      const items = Array.from({ length: count }, () => item);
      return urlEvent({
        token,
        route: '/v2/batch',
        pathParameters: {},
        body: Buffer.from(JSON.stringify(items)),
      });
    },
    takeAttempts,
    measure,
    measureDelivery: async (count) => measure('deliver', queueEvent(await takeAttempts(count))),
    purge: () => {
      for (const name of deliveryQueues) queues.purge(name);
    },
    close: async () => {
      meter.close();
      await receiver.close();
      await inProcess.stop();
    },
  };
}
