import {
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { clientOptions } from '../../../../lambdas/aws/clientOptions.ts';
import {
  openFaultProxy,
  type AwsCall,
  type FaultProxy,
  type Fault,
} from '../../../../local/aws/faultProxy.ts';
import { credentials } from '../../../../local/lambda/environment.ts';
import { startSqs, type Sqs } from '../../../../local/sqs/sqs.ts';
import { Store } from '../../../../local/store/store.ts';

const region = 'eu-central-1';
let sqs: Sqs;
let proxy: FaultProxy;
let client: SQSClient;
let faults: Fault[] = [];
let seen: AwsCall[] = [];
let struck: Fault[] = [];

const fail = (error: unknown): never => {
  throw error;
};

beforeAll(async () => {
  sqs = await startSqs({
    queues: [{ name: 'q', visibilityTimeoutMs: 0 }],
    region,
    store: new Store(undefined),
    now: () => Date.now(),
    report: fail,
  });
  const { url } = sqs;
  proxy = await openFaultProxy({
    service: 'sqs',
    url,
    report: fail,
    plan: {
      faultOf: (call) => {
        seen.push(call);
        return faults.shift();
      },
      struck: (_call, fault) => {
        struck.push(fault);
      },
    },
  });
  client = new SQSClient({
    ...clientOptions('quick'),
    endpoint: proxy.url,
    region,
    credentials,
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  await proxy.close();
  await sqs.close();
});
beforeEach(() => {
  faults = [];
  seen = [];
  struck = [];
  sqs.queues.purge('q');
});

const QueueUrl = 'http://sqs/000000000000/q';
const send = (...planned: readonly Fault[]) => {
  faults = [...planned];
  return client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'work' }));
};
const inQueue = (): number => sqs.queues.unsettled('q').length;

test('a call without a fault is made, and reported to the plan', async () => {
  await send();
  expect(inQueue()).toBe(1);
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages.map(({ Body }) => Body)).toEqual(['work']);
  expect(seen).toEqual([
    { service: 'sqs', operation: 'SendMessage', caller: undefined },
    { service: 'sqs', operation: 'ReceiveMessage', caller: undefined },
  ]);
});

test('a refusal has its code and its status, before or after the call is made', async () => {
  const refuse = { kind: 'refuse', status: 400, code: 'RequestThrottled' } as const;
  await expect(send({ ...refuse, when: 'before' })).rejects.toMatchObject({ name: 'RequestThrottled' });
  expect(inQueue()).toBe(0);
  await expect(send({ ...refuse, when: 'after', status: 500 })).rejects.toMatchObject({
    $metadata: { httpStatusCode: 500 },
  });
  expect(inQueue()).toBe(1);
});

test('a connection is lost before or after the call is made, and the test is notified', async () => {
  let cuts = 0;
  const cut = (): boolean => {
    cuts += 1;
    return true;
  };
  await expect(send({ kind: 'reset', when: 'before', cut })).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect([inQueue(), cuts]).toEqual([0, 1]);
  await expect(send({ kind: 'reset', when: 'after', cut })).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect([inQueue(), cuts]).toEqual([1, 2]);
});

test('a call that hangs gets no answer', async () => {
  faults = [{ kind: 'hang', when: 'after' }];
  const gone = new AbortController();
  const hanging = client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'work' }), {
    abortSignal: gone.signal,
  });
  const ended = expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(inQueue).toBe(1);
  gone.abort();
  await ended;
});

test('a call is made twice, or later', async () => {
  await send({ kind: 'twice' });
  expect(inQueue()).toBe(2);
  await send({ kind: 'slow', ms: 1 });
  expect(inQueue()).toBe(3);
});

test('a message is overtaken by the one that was sent after it', async () => {
  await send({ kind: 'overtaken', seconds: 60 });
  expect(inQueue()).toBe(0);
  expect(sqs.queues.nextDue('q')).toBeGreaterThan(Date.now() + 30_000);
  await send();
  expect(inQueue()).toBe(1);
});

test('of a batch every second entry fails', async () => {
  faults = [{ kind: 'half' }];
  const Entries = ['a', 'b', 'c'].map((Id) => ({ Id, MessageBody: Id }));
  const { Successful = [], Failed = [] } = await client.send(
    new SendMessageBatchCommand({ QueueUrl, Entries }),
  );
  expect(Successful.map(({ Id }) => Id)).toEqual(['a', 'c']);
  expect(Failed.map(({ Id }) => Id)).toEqual(['b']);
  expect(inQueue()).toBe(2);
  expect(struck.map(({ kind }) => kind)).toEqual(['half']);
});

test('a fault is reported with its call once it has taken effect', async () => {
  const slow = { kind: 'slow', ms: 1 } as const;
  await send(slow);
  await send({ kind: 'twice' });
  await expect(
    send({ kind: 'refuse', when: 'before', status: 500, code: 'InternalFailure' }),
  ).rejects.toThrow();
  await expect(send({ kind: 'reset', when: 'after' })).rejects.toThrow();
  await send({ kind: 'overtaken', seconds: 1 });
  expect(struck.map(({ kind }) => kind)).toEqual(['slow', 'twice', 'refuse', 'reset', 'overtaken']);
  expect(struck[0]).toBe(slow);
  await send();
  expect(struck).toHaveLength(5);
});

test.each<[what: string, act: () => Promise<unknown>]>([
  [
    'a process that is gone already',
    () => send({ kind: 'reset', when: 'before', cut: () => false }).catch(() => {}),
  ],
  [
    'the delay of a message that is longer than the fault’s',
    () => {
      faults = [{ kind: 'overtaken', seconds: 4 }];
      return client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 9 }));
    },
  ],
  [
    'half of a batch of one',
    () => {
      faults = [{ kind: 'half' }];
      return client.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: 'a', MessageBody: 'a' }] }));
    },
  ],
])('a fault that meets nothing has not struck: %s', async (_what, act) => {
  await act();
  expect(seen).toHaveLength(1);
  expect(faults).toEqual([]);
  expect(struck).toEqual([]);
});

test('a delay whose caller has gone is not reported', async () => {
  const gone = new AbortController();
  faults = [{ kind: 'slow', ms: 300 }];
  const slow = client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'work' }), {
    abortSignal: gone.signal,
  });
  const ended = expect(slow).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => seen.length).toBe(1);
  gone.abort();
  await ended;
  await expect.poll(inQueue).toBe(1);
  expect(struck).toEqual([]);
});
