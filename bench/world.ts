/** What a measurement needs around it: the stand-ins for AWS, an account, and a destination that answers 200. */
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type Message } from '@aws-sdk/client-sqs';
import { loadFunction, type LambdaFunction } from '../local/lambda.ts';
import { startInProcess } from '../test/support/inProcess.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { publishEvent } from './events.ts';
import { attachMeter, type Meter } from './meter.ts';

export interface World {
  readonly publish: LambdaFunction;
  readonly deliver: LambdaFunction;
  readonly meter: Meter;
  /** The event of one request to publish a body. */
  eventFor(body: Buffer): object;
  /** Takes so many pointers off their queue; fails where there are fewer. */
  takePointers(count: number): Promise<readonly Message[]>;
  readonly close: () => Promise<void>;
}

export async function startWorld(): Promise<World> {
  const inProcess = await startInProcess();
  const { standIns } = inProcess;
  // They read the environment that has just been set.
  const { dynamodb } = await import('../lambdas/stores/dynamodb.ts');
  const { sqs } = await import('../lambdas/transport/queue.ts');
  const load = (name: string) => loadFunction(name, { region: 'us-east-1', timeoutMs: 60_000 });
  const [publish, deliver] = await Promise.all([load('publish'), load('deliver')]);
  const { createAccount } = await import('../lambdas/services/accounts.ts');
  const { token } = await createAccount(Buffer.from('{"type":"paid"}'));
  const receiver = await startReceiver();
  // As long as a real one: it stands in the message's row, which is billed by its size.
  const url = `${receiver.inbox().url}/hooks/orders/paid?tenant=acme-shop`;

  const queueUrls = [standIns.sqs.queueUrl('short'), standIns.sqs.queueUrl('long')];
  const take = async (QueueUrl: string, most: number): Promise<readonly Message[]> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: Math.min(10, most) }),
    );
    if (Messages.length === 0) return [];
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    return Messages;
  };

  return {
    publish,
    deliver,
    meter: attachMeter({ dynamodb, sqs }, standIns),
    eventFor: (body) => publishEvent(token, url, body),
    takePointers: async (count) => {
      const taken: Message[] = [];
      for (const queueUrl of queueUrls) {
        for (let more = true; more && taken.length < count;) {
          const messages = await take(queueUrl, count - taken.length);
          taken.push(...messages);
          more = messages.length > 0;
        }
      }
      if (taken.length < count) throw new Error(`There are ${taken.length} pointers, not ${count}.`);
      return taken;
    },
    close: async () => {
      await receiver.close();
      await inProcess.stop();
    },
  };
}
