import { beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { answerSlowly, numbersOf, send, sendFrom, underKey, upTo } from '../support/lanes.ts';
import { service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { clockStage } from '../support/clockStage.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const senders = 5;

const sorted = (deliveries: readonly Delivery[]): readonly number[] =>
  [...numbersOf(deliveries)].sort((one, other) => one - other);

/** Waits for a later message without a key: all earlier ones have been handled. */
async function othersGo(stage: { readonly url?: string; readonly token?: string } = {}): Promise<void> {
  const marker = receiver.inbox();
  await send(marker.url, stage);
  await marker.received(1);
}

describe.runIf(service.target === 'deployed')('a rate on AWS', () => {
  /** A job that is a period late loses its turn, and a busy emulator may need seconds to start a worker. */
  const periodMs = 6_000;

  it('never has more starts in a period', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const headers = underKey(unique('key'), 'rate=3,period=6');
    const beganAt = Date.now();
    await sendFrom(senders, 6, (number) => send(inbox.url, { body: String(number), headers }));
    const all = await inbox.received(6);
    expect(sorted(all)).toEqual(upTo(6));
    // A request may arrive long after its start was counted, but never before its period.
    for (const { at } of all.slice(3)) expect(at).toBeGreaterThanOrEqual(beganAt + periodMs);
  });
});

describe.runIf(service.target === 'local')('as time passes, a rate', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await clockStage();
  });

  it('starts exactly that many in each period', async () => {
    const { url, token } = stage;
    const inbox = receiver.inbox();
    const headers = underKey('hourly', 'rate=5,period=1h');
    await sendFrom(senders, 13, (number) => send(inbox.url, { url, token, body: String(number), headers }));
    for (const count of [5, 10, 13]) {
      await inbox.received(count);
      await stage.advance(30 * 60_000);
      await othersGo(stage);
      expect(inbox.deliveries).toHaveLength(count);
      await stage.advance(30 * 60_000);
    }
    expect(sorted(inbox.deliveries)).toEqual(upTo(13));
  });
});
