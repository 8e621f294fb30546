import { describe, expect } from 'vitest';
import { itAtEachDeath } from '../../../support/faults.ts';
import type { Config, LaneFixture } from '../../../support/laneFixture.ts';
import { useLaneFixtures } from '../../../support/useLaneFixtures.ts';
import type { Fixture } from '../../../support/fixture.ts';

/** Kills a worker at each AWS call while a host is down. No message is lost, stuck or sent for ever. */

let fixture: Fixture;
const open = useLaneFixtures((opened) => {
  fixture = opened;
});

const config: Config = { circuit: 'on', retries: '10', 'retry-delay': '3000' };

/** Two messages have a queue, and two do not. The circuit opens, one probe fails, and the next succeeds. */
async function wayOf(laneFixture: LaneFixture): Promise<void> {
  let status = 503;
  const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(status).end());
  const ids = [
    await laneFixture.send(inbox.url, config, 'strict'),
    await laneFixture.send(inbox.url, config, 'strict'),
    await laneFixture.send(inbox.url, config),
    await laneFixture.send(inbox.url, config),
  ];
  await laneFixture.fleet.advance(50_000);
  status = 200;
  await laneFixture.fleet.advance(3_600_000);
  const ends = await Promise.all(ids.map((id) => laneFixture.endOf(id)));
  expect(ends).toEqual(ids.map(() => 'DELIVERED'));
  const delivered = inbox.deliveries.map(({ headers }) => headers['svc-message-id'] ?? '');
  // The queue’s second message is delivered after its first.
  expect(new Set(delivered)).toEqual(new Set(ids));
  expect(delivered.indexOf(ids[1] ?? '')).toBeGreaterThan(delivered.lastIndexOf(ids[0] ?? ''));
  const lane = await laneFixture.lane('circuit', new URL(inbox.url).host);
  expect(lane?.circuit?.openedAt).toBeUndefined();
}

/** Each death takes seconds. */
const every = { ordinary: 25, thorough: 5 };

describe('messages to a host that is down', () => {
  itAtEachDeath(
    'are all delivered when a worker dies at any of its AWS calls',
    async (fate) => {
      const laneFixture = await open({ max_retries: 10 });
      laneFixture.fleet.setFate(fate);
      await wayOf(laneFixture);
      laneFixture.fleet.setFate(undefined);
      await laneFixture.settle();
    },
    { every },
  );
});
