import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFleet, type Fleet } from '../../../support/fleet.ts';
import type { Delivery } from '../../../support/receiver.ts';
import { openFixture, requestOf, type Fixture } from '../../../support/fixture.ts';

/** Each invocation has a separate process, which knows nothing of the others. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet(fixture.standIns);
});
afterEach(() => fleet.close());

const count = 20;

async function accountWith(id: string, parallelism: number) {
  const account = { ...fixture.account, id, limits: { max_global_parallelism: parallelism } };
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  return account;
}

async function deliver(account: Fixture['account'], queueName?: string): Promise<readonly Delivery[]> {
  const inbox = fixture.receiver.inbox((_delivery, response, before) => {
    setTimeout(() => response.writeHead(200).end(), 20 + ((before * 37) % 80));
  });
  for (let number = 0; number < count; number += 1) {
    await fixture.publishRequest(account, { ...requestOf(inbox.url, {}, String(number)), queueName });
  }
  return inbox.received(count);
}

const mostOpen = (deliveries: readonly Delivery[]): number => Math.max(...deliveries.map(({ open }) => open));
const numbersOf = (deliveries: readonly Delivery[]): readonly number[] =>
  deliveries.map(({ body }) => Number(body.toString()));
const inOrder = Array.from({ length: count }, (_, number) => number);

describe('many processes', () => {
  it('deliver a queue’s messages one after the other, in order', async () => {
    const all = await deliver(await accountWith('queued', 50), 'one');
    expect([mostOpen(all), numbersOf(all)]).toEqual([1, inOrder]);
  });

  it('never exceed an account’s parallelism', async () => {
    const all = await deliver(await accountWith('small', 2));
    expect(mostOpen(all)).toBeLessThanOrEqual(2);
    expect(new Set(numbersOf(all)).size).toBe(count);
  });
});
