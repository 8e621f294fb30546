import * as sdk from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addToClients } from '../../../../lambdas/aws/additions.ts';
import type { Message } from '../../../../lambdas/message/message.ts';
import { derivedId, newId } from '../../../../lambdas/shared/ids.ts';
import { handingOver } from '../../../../local/aws/handOver.ts';
import { connect, type Call, type Connection } from '../../../../local/dynamodb/connection.ts';
import { handOverTo } from '../../../../local/dynamodb/dynamodb.ts';
import { knownMessages } from '../../../../local/dynamodb/knownMessages.ts';
import { useStandIns } from '../../../support/useStandIns.ts';

/** The service's own reads and writes of messages, with the real database below; `asked` has what reached that. */

const standIns = useStandIns();

const importStores = async () => {
  const [messages, history] = await Promise.all([
    import('../../../../lambdas/message/messages.ts'),
    import('../../../../lambdas/message/history.ts'),
  ]);
  return { ...messages, ...history };
};
let stores: Awaited<ReturnType<typeof importStores>>;
let connection: Connection;
let asked: string[] = [];
/** Stands before the database; a test may hold or fail a call here. */
let before: (call: Call) => Promise<void>;
/** The clock of the memory, Unix milliseconds. */
let now = Date.now();

beforeAll(async () => {
  connection = connect(standIns().urls.dynamodb);
  const send = knownMessages(
    async (call) => {
      asked.push(call.operation);
      await before(call);
      return connection.send(call);
    },
    () => now,
  );
  addToClients(handingOver(new Map([['Dynamodb', { handOver: handOverTo(send), sdk: () => sdk }]])));
  stores = await importStores();
});

afterAll(() => connection.close());

beforeEach(() => {
  asked = [];
  before = () => Promise.resolve();
});

const body = { at: 'here', bytes: new Uint8Array([1, 0, 255]), deflated: false } as const;
const messageWith = (messageId: string): Message => ({
  messageId,
  accountId: 'acct',
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'POST',
  headers: [['content-type', 'text/plain']],
  maxRetries: 3,
  timeoutMs: 30_000,
  labels: ['one'],
  createdAt: now,
  notBefore: now,
  callerIp: '192.0.2.1',
  expiresAt: 1_000 * Math.floor(now / 1_000 + 1_000_000),
});
const attempt = {
  number: 0,
  state: 'DELIVERED',
  startedAt: 1,
  recordedAt: 2,
  response: { status: 200, headers: [], body: new Uint8Array() },
} as const;

/** Writes a new message. */
async function written(): Promise<Message> {
  const message = messageWith(newId('msg', now));
  await stores.putMessage(message, body);
  asked = [];
  return message;
}

it('answers the first read of a new message as the database would', async () => {
  const message = await written();
  const known = await stores.loadMessage(message);
  expect(asked).toEqual([]);
  await stores.extendMessageRow(message, body);
  expect(await stores.loadMessage(message)).toEqual(known);
  expect(asked).toEqual(['UpdateItem', 'Query']);
});

it('answers a read that comes before the end of the write when the row is written', async () => {
  const message = messageWith(newId('msg', now));
  let write = (): void => undefined;
  before = () => new Promise((resolve) => (write = resolve));
  const writing = stores.putMessage(message, body);
  const reading = stores.loadMessage(message);
  write();
  await writing;
  expect(await reading).toMatchObject({ message });
  expect(asked).toEqual(['PutItem']);
});

it('asks the database when the write failed', async () => {
  const message = messageWith(newId('msg', now));
  before = ({ operation }) =>
    operation === 'PutItem' ? Promise.reject(new Error('away')) : Promise.resolve();
  const [write, read] = await Promise.allSettled([
    stores.putMessage(message, body),
    stores.loadMessage(message),
  ]);
  expect([write.status, read]).toEqual(['rejected', { status: 'fulfilled', value: undefined }]);
  expect(asked).toEqual(['PutItem', 'Query']);
});

describe('asks the database after another write of the message', () => {
  it('an attempt', async () => {
    const message = await written();
    await stores.recordAttempt(message, attempt);
    expect((await stores.loadMessage(message))?.attempts).toHaveLength(1);
  });

  it('its end, even while that is being written', async () => {
    const message = await written();
    const ending = stores.endMessage(message, 'CANCELED', now);
    await stores.loadMessage(message);
    await ending;
    expect((await stores.loadMessage(message))?.end).toBe('CANCELED');
    expect(asked).toEqual(['PutItem', 'Query', 'Query']);
  });

  it('many rows at once', async () => {
    const message = await written();
    await stores.putMessages([{ message, stored: body }]);
    await stores.loadMessage(message);
    expect(asked).toEqual(['BatchWriteItem', 'Query']);
  });
});

describe('asks the database for a message whose row', () => {
  it('was written again: an attempt may be behind it', async () => {
    const message = messageWith(derivedId('msg', now, 'a schedule and its fire'));
    await stores.putMessage(message, body);
    await stores.recordAttempt(message, attempt);
    await stores.putMessage(message, body);
    expect((await stores.loadMessage(message))?.attempts).toHaveLength(1);
  });

  it('was written before with others', async () => {
    const message = messageWith(newId('msg', now));
    await stores.putMessages([{ message, stored: body }]);
    await stores.recordAttempt(message, attempt);
    await stores.putMessage(message, body);
    expect((await stores.loadMessage(message))?.attempts).toHaveLength(1);
  });

  it.each([
    ['has an id of before this process', -3_600_000],
    ['has an id of more than ten seconds ago', -10_001],
    ['has an id of later', 1_000],
  ])('%s', async (_title, ms) => {
    now += 60_000;
    const message = messageWith(newId('msg', now + ms));
    await stores.putMessage(message, body);
    await stores.loadMessage(message);
    expect(asked).toEqual(['PutItem', 'Query']);
  });

  it('has the id of a moment that the clock was set back to', async () => {
    const message = messageWith(derivedId('msg', now, 'another fire'));
    await stores.putMessage(message, body);
    await stores.recordAttempt(message, attempt);
    now += 3_600_000;
    await written();
    await written();
    now -= 3_600_000;
    await stores.putMessage(message, body);
    expect((await stores.loadMessage(message))?.attempts).toHaveLength(1);
    now += 3_600_000;
  });

  it('was followed by those of a thousand others', async () => {
    const message = await written();
    await Promise.all(Array.from({ length: 1_000 }, written));
    asked = [];
    await stores.loadMessage(message);
    expect(asked).toEqual(['Query']);
  });
});
