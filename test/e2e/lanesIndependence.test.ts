import { describe, expect, it } from 'vitest';
import { makeAccount } from '../support/accounts.ts';
import { unique } from '../support/api.ts';
import {
  enqueue,
  mostOpen,
  numbersOf,
  putQueue,
  send,
  sendFrom,
  startGate,
  underKey,
  upTo,
} from '../support/lanes.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** More than the account may have in flight. If they held slots of the account, nothing else would start. */
const waiting = 12;
const accountParallelism = 3;

async function startAccount() {
  const { token } = await makeAccount({ max_global_parallelism: accountParallelism });
  const expectOthersGo = async (): Promise<void> => {
    const inbox = receiver.inbox();
    const headers = underKey(unique('key'), 'parallelism=1,rate=100');
    const queue = unique('queue');
    await sendFrom(3, 9, (number) => {
      const init = { token, body: String(number), headers: number % 2 === 0 ? headers : {} };
      return number % 3 === 0 ? enqueue(queue, inbox.url, init) : send(inbox.url, init);
    });
    expect([...numbersOf(await inbox.received(9))].sort()).toEqual(upTo(9));
  };
  return { token, expectOthersGo };
}

describe('a full lane', () => {
  it('holds back nothing else if it is a queue', async () => {
    const { token, expectOthersGo } = await startAccount();
    const gate = startGate();
    const inbox = receiver.inbox(gate.answer);
    const queue = unique('queue');
    await sendFrom(1, waiting, (number) => enqueue(queue, inbox.url, { token, body: String(number) }));
    await inbox.received(1);
    await expectOthersGo();
    expect(inbox.deliveries).toHaveLength(1);
    gate.open();
    expect(numbersOf(await inbox.received(waiting))).toEqual(upTo(waiting));
  });

  it('holds back nothing else if it is a key', async () => {
    const { token, expectOthersGo } = await startAccount();
    const gate = startGate();
    const inbox = receiver.inbox(gate.answer);
    const headers = underKey(unique('key'), 'parallelism=1');
    await sendFrom(3, waiting, (number) => send(inbox.url, { token, headers, body: String(number) }));
    await inbox.received(1);
    await expectOthersGo();
    expect(inbox.deliveries).toHaveLength(1);
    gate.open();
    expect(mostOpen(await inbox.received(waiting))).toBe(1);
  });

  it('holds back nothing else if it is a key with a used-up rate', async () => {
    const { token, expectOthersGo } = await startAccount();
    const inbox = receiver.inbox();
    const headers = underKey(unique('key'), 'rate=1,period=1h');
    await sendFrom(3, waiting, (number) => send(inbox.url, { token, headers, body: String(number) }));
    await inbox.received(1);
    await expectOthersGo();
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('holds back its key’s messages in a queue, and the queue’s others only when the queue is full', async () => {
    const { token, expectOthersGo } = await startAccount();
    const gate = startGate();
    const held = receiver.inbox(gate.answer);
    const inbox = receiver.inbox();
    const queue = unique('queue');
    await putQueue(queue, { parallelism: 4 }, { token });
    const headers = underKey(unique('key'), 'parallelism=1');
    await sendFrom(1, 3, () => enqueue(queue, held.url, { token, headers }));
    await held.received(1);
    await sendFrom(2, 8, (number) => enqueue(queue, inbox.url, { token, body: String(number) }));
    expect(mostOpen(await inbox.received(8))).toBe(1);
    await expectOthersGo();
    expect(held.deliveries).toHaveLength(1);
    gate.open();
    expect(mostOpen(await held.received(3))).toBe(1);
  });

  it('holds back no other account if it is an account', async () => {
    const full = await startAccount();
    const other = await startAccount();
    const gate = startGate();
    const inbox = receiver.inbox(gate.answer);
    await sendFrom(3, waiting, () => send(inbox.url, { token: full.token }));
    await inbox.received(accountParallelism);
    await other.expectOthersGo();
    expect(inbox.deliveries).toHaveLength(accountParallelism);
    gate.open();
    expect(mostOpen(await inbox.received(waiting))).toBe(accountParallelism);
    await full.expectOthersGo();
  });
});
