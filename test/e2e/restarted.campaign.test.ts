import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { alarmMessage } from '../../lambdas/wire/alarms.ts';
import { changeAccount, makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, logEntry, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { heldInbox, type HeldInbox } from '../support/heldInbox.ts';
import { messageIdOf, service } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const longest = 12 * 3_600;
const minuteMs = 60_000;

const idsOf = (deliveries: readonly Delivery[]) =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

/** The stage is killed while all of this is in progress. */
describe.runIf(service.target === 'local')('a stage that starts again', () => {
  const receiver = useReceiver();
  let stage: Stage;
  const make = (fields: Readonly<Record<string, unknown>> = {}): Promise<AccountRecord> =>
    makeAccount(fields, stage.management);
  const send = async (by: Pick<AccountRecord, 'token'>, to: Inbox, headers: Record<string, string> = {}) =>
    messageIdOf(await publishAs(by, to.url, { url: stage.url, headers }));
  const restart = async (way: 'kill' | 'stop'): Promise<void> => {
    await stage[way]();
    stage = await startStage({ dataDir: stage.dataDir, testControl: true });
  };

  let suspended: AccountRecord;
  let patient: AccountRecord;
  let held: Inbox;
  let stuck: HeldInbox;
  let slow: HeldInbox;
  let scheduled: Inbox;
  let alarmed: Inbox;
  let waiting: readonly string[];
  let long = '';

  beforeAll(async () => {
    stage = await startStage({ testControl: true });
    const later = receiver.inbox();
    [held, scheduled, alarmed] = [receiver.inbox(), receiver.inbox(), receiver.inbox()];
    [stuck, slow] = [heldInbox(receiver), heldInbox(receiver)];

    suspended = await make();
    await send(suspended, held, { 'Svc-Delay': '1s' });
    await changeAccount(suspended.id, { active: false }, stage.management);
    await send(await make(), later, { 'Svc-Delay': '3s' });

    const narrow = await make({ max_global_parallelism: 1 });
    const first = await send(narrow, stuck);
    await stuck.received(1);
    waiting = [first, ...(await Promise.all([1, 2, 3, 4].map(() => send(narrow, stuck))))];

    patient = await make({ timeout: longest });
    long = await send(patient, slow, { 'Svc-Timeout': '12h' });
    await slow.received(1);

    const by = { url: stage.url, token: stage.token };
    await ok(api('POST', `/v2/schedules/${scheduled.url}`, { ...by, headers: { 'Svc-Cron': '* * * * *' } }));
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const body = { url: alarmed.url, format: 'json', deadLetters: { above: 0, minutes: 60 } };
    await ok(api('PUT', '/v2/alarms', { ...by, body }));
    await send(stage, failing, { 'Svc-Retries': '0' });
    await eventually(
      () => ok(api('GET', '/v2/dlq', by)),
      (page) => JSON.stringify(page).includes('dlq_'),
    );

    await later.received(1);
    await restart('kill');
  });
  afterAll(() => stage.remove());

  it('reports alarms', async () => {
    const [delivery] = await alarmed.received(1);
    const alarm = alarmMessage.parse(JSON.parse(delivery?.body.toString() ?? ''));
    expect(alarm).toMatchObject({ state: 'open', kind: 'deadLetters', region: 'eu-central-1' });
  });

  it('delivers messages that waited for the capacity of processes that died', async () => {
    stuck.letGo();
    expect(idsOf(await stuck.until((all) => idsOf(all).size === waiting.length))).toEqual(new Set(waiting));
  });

  it('holds the messages of a suspended account until it is active', async () => {
    expect(held.deliveries).toHaveLength(0);
    await changeAccount(suspended.id, { active: true }, stage.management);
    await held.received(1);
  });

  it('repeats a long attempt once, soon after it was killed or stopped', async () => {
    await slow.received(2);
    await restart('stop');
    await slow.received(3);
    slow.letGo();
    const { token } = patient;
    const logs = z.object({ logs: z.array(logEntry) });
    const read = async () =>
      logs
        .parse(await ok(api('GET', `/v2/logs${query({ messageId: long })}`, { url: stage.url, token })))
        .logs.filter(({ state }) => state === 'DELIVERED');
    expect(await eventually(read, ({ length }) => length > 0)).toHaveLength(1);
    expect(slow.deliveries).toHaveLength(3);
  });

  it('accepts messages until the attempts in flight have ended, and delivers them after the next start', async () => {
    const [busy, next] = [heldInbox(receiver), receiver.inbox()];
    await send(stage, busy);
    await busy.received(1);
    const { url } = stage;
    const restarted = restart('stop');
    await eventually(
      () => fetch(`${url}/v2/ready`).then(({ status }) => status),
      (status) => status === 503,
    );
    const ids = [
      await send({ token: stage.token }, next, {}),
      await send(stage, next, { 'Svc-Delay': '1s' }),
    ];
    expect(next.deliveries).toHaveLength(0);
    busy.letGo();
    await restarted;
    const delivered = await next.until((all) => idsOf(all).size === ids.length);
    expect(idsOf(delivered)).toEqual(new Set(ids));
    expect(busy.deliveries).toHaveLength(1);
  });

  it('fires its schedules', async () => {
    const before = scheduled.deliveries.length;
    await stage.advance(minuteMs);
    await scheduled.received(before + 1);
  });
});
