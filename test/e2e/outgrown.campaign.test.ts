import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { svcQueue } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, publish, service, type Answer } from '../support/publish.ts';
import { startReceiver, type Delivery, type Receiver } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** Follows docs/server.md and docs/migration.md. */

interface Place {
  readonly url: string;
  readonly token: string;
}

const idOf = ({ headers }: Delivery): string => headers['svc-message-id'] ?? '';
const scheduleOf = ({ headers }: Delivery): string | undefined =>
  headers['svc-schedule-id'] ?? headers['upstash-schedule-id'];

async function send(
  { url, token }: Place,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer> {
  const answer = await call(
    path,
    {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
    url,
  );
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
  return answer;
}

const isPaused = async (place: Place, id: string): Promise<boolean> =>
  z
    .object({ isPaused: z._default(z.boolean(), false) })
    .parse((await send(place, 'GET', `/v2/schedules/${id}`)).json).isPaused;

const lagOf = async (place: Place): Promise<number> =>
  z.object({ lag: z.number() }).parse((await send(place, 'GET', '/v2/queues/mail')).json).lag;

describe('a stage that has outgrown its machine', () => {
  let receiver: Receiver;
  let source: Stage;
  let ownTarget: Stage | undefined;
  beforeAll(async () => {
    receiver = await startReceiver();
    source = await startStage({ testControl: true });
    // A stage advances its clock, so that schedules fire. A deployment uses real time.
    if (service.target === 'local') ownTarget = await startStage({ testControl: true });
  });
  afterAll(async () => {
    await source.remove();
    await ownTarget?.remove();
    await receiver.close();
  });

  it('moves to a deployment: nothing is lost or out of order, and no schedule fires twice', async () => {
    const target: Place = ownTarget ?? { url: service.url, token: (await makeAccount()).token };
    const arrived = receiver.inbox();
    const ordered = receiver.inbox();
    const fired = receiver.inbox();
    const accepted = new Set<string>();
    const inOrder: string[] = [];
    const enqueue = async (place: Place): Promise<void> => {
      inOrder.push(messageIdOf(await send(place, 'POST', `/v2/enqueue/mail/${ordered.url}`)));
    };
    const minute = new Date(Date.now() + 30 * 60_000).getUTCMinutes();
    await send(source, 'POST', `/v2/schedules/${fired.url}`, {
      'Svc-Cron': `${minute} * * * *`,
      'Svc-Schedule-Id': 'hourly',
    });
    await send(source, 'POST', '/v2/queues', {}, { queueName: 'mail', parallelism: 1 });
    await send(source, 'POST', '/v2/queues/mail/pause');
    for (let at = 0; at < 5; at += 1) await enqueue(source);
    const publishTo = async (place: Place, delay: string): Promise<void> => {
      accepted.add(messageIdOf(await publish(arrived.url, { ...place, headers: { 'Svc-Delay': delay } })));
    };
    const load = (place: Place): Promise<unknown> =>
      Promise.all(Array.from({ length: 60 }, (_, at) => publishTo(place, `${at % 12}s`)));
    await load(source);

    const migrate = async (...flags: readonly string[]): Promise<void> => {
      const ran = await svcQueue(['migrate', '--apply', ...flags], {
        QSTASH_URL: source.url,
        QSTASH_TOKEN: source.token,
        SVC_URL: target.url,
        SVC_TOKEN: target.token,
      });
      expect(ran.code, ran.output).toBe(0);
    };
    await migrate('--paused');
    expect([await isPaused(source, 'hourly'), await isPaused(target, 'hourly')]).toEqual([false, true]);
    // The publishers now use the target. Its queue is paused until the messages of the old queue are
    // delivered.
    await send(target, 'POST', '/v2/queues/mail/pause');
    for (let at = 0; at < 5; at += 1) await enqueue(target);
    await load(target);
    await send(source, 'POST', '/v2/queues/mail/resume');
    await eventually(
      () => lagOf(source),
      (lag) => lag === 0,
    );
    await ordered.received(5);
    await send(target, 'POST', '/v2/queues/mail/resume');
    await migrate('--switch');
    expect([await isPaused(source, 'hourly'), await isPaused(target, 'hourly')]).toEqual([true, false]);

    await arrived.until((deliveries) => deliveries.length >= accepted.size);
    await ordered.until(({ length }) => length >= inOrder.length);
    // Without failures each message arrives once, from the service that accepted it.
    expect(arrived.deliveries.map(idOf).toSorted()).toEqual([...accepted].toSorted());
    expect(ordered.deliveries.map(idOf)).toEqual(inOrder);
    if (ownTarget === undefined) return;
    await Promise.all([source.advance(3 * 3_600_000), ownTarget.advance(3 * 3_600_000)]);
    await fired.received(3);
    expect(fired.deliveries.map(scheduleOf)).toEqual(['hourly', 'hourly', 'hourly']);
  });
});
