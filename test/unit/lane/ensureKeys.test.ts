import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { setClockAhead } from '../../support/clockAhead.ts';
import { fateAt, itAtEachDeath, type Fate } from '../../support/faults.ts';
import { noFilter } from '../../support/filters.ts';
import { openRunFixture, type RunFixture } from '../../support/runFixture.ts';
import { startSettings } from '../../support/startSettings.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, idsOf, requestOf, type Fixture } from '../../support/fixture.ts';

/** A flow-control key exists once a message with it is accepted, even if that is due much later. */

const dayMs = 86_400_000;

let fixture: Fixture;
let runFixture: RunFixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [flowControl, batch, schedules, run, deadLetters, retry, stores, lane] = await Promise.all([
    import('../../../lambdas/lane/flowControl.ts'),
    import('../../../lambdas/publish/batch.ts'),
    import('../../../lambdas/schedule/schedules.ts'),
    import('../../../lambdas/schedule/run.ts'),
    import('../../../lambdas/deadLetter/deadLetters.ts'),
    import('../../../lambdas/publish/retryDeadLetters.ts'),
    import('../../../lambdas/lane/store/lanes.ts'),
    import('../../../lambdas/lane/lane.ts'),
  ]);
  return {
    ...flowControl,
    ...batch,
    ...schedules,
    ...run,
    ...deadLetters,
    ...retry,
    loadLane: stores.loadLane,
    laneLastsUntil: stores.laneLastsUntil,
    keyLane: lane.keyLane,
  };
}

useFixture(async (opened) => {
  fixture = opened;
  runFixture = await openRunFixture(fixture);
  lambdas = await importLambdas();
});

const url = 'https://example.com/hook';
const named = (key: string, more: Readonly<Record<string, string>> = {}) => ({
  'flow-control-key': key,
  'flow-control-value': 'parallelism=3, rate=7, period=1m',
  ...more,
});
const laneOf = (key: string) => lambdas.keyLane(fixture.account.id, key);
const rowKey = (key: string) => ({
  lane: { S: `${fixture.account.id}#key#${key}` },
  part: { S: 'lane' },
});

/** Lets what the process knows about keys expire. */
function later(): void {
  setClockAhead(11 * 60_000);
}

async function expectShown(key: string): Promise<void> {
  expect(await lambdas.getFlowControl(fixture.account, key)).toMatchObject({
    flowControlKey: key,
    parallelismMax: 3,
    rateMax: 7,
    ratePeriod: 60,
    waitListSize: 0,
    parallelismCount: 0,
    rateCount: 0,
  });
}

describe('a flow-control key', () => {
  it('of a delayed message can be shown, pinned and paused at once', async () => {
    await fixture.send(url, named('delayed', { delay: '1h' }));
    await expectShown('delayed');
    await lambdas.pinFlowControl(fixture.account, 'delayed', { parallelism: '1' });
    await lambdas.pauseFlowControl(fixture.account, 'delayed');
    expect(await lambdas.getFlowControl(fixture.account, 'delayed')).toMatchObject({
      parallelismMax: 1,
      isPaused: true,
      isPinnedParallelism: true,
    });
  });

  it('that is paused before its message is due holds the message back', async () => {
    const inbox = fixture.receiver.inbox();
    const id = await fixture.send(inbox.url, named('held'));
    await lambdas.pauseFlowControl(fixture.account, 'held');
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    await lambdas.resumeFlowControl(fixture.account, 'held');
    await fixture.doJobs();
    expect(idsOf(inbox.deliveries)).toEqual(new Set([id]));
  });

  it('of a message in a queue is created', async () => {
    await fixture.enqueue('line', url, named('queued', { delay: '1h' }));
    await expectShown('queued');
  });

  it('of callbacks is created', async () => {
    await fixture.send(url, {
      delay: '1h',
      callback: 'https://example.com/done',
      'callback-flow-control-key': 'told',
      'callback-flow-control-value': 'parallelism=3, rate=7, period=1m',
      'failure-callback': 'https://example.com/failed',
      'failure-callback-flow-control-key': 'failures',
      'failure-callback-flow-control-value': 'parallelism=3, rate=7, period=1m',
    });
    await expectShown('told');
    await expectShown('failures');
  });

  it('of many items of a batch is read once', async () => {
    const item = (key: string) => ({
      destination: url,
      headers: {
        'Svc-Delay': '1h',
        'Svc-Flow-Control-Key': key,
        'Svc-Flow-Control-Value': 'parallelism=3, rate=7, period=1m',
      },
    });
    const body = Buffer.from(
      JSON.stringify([...Array.from({ length: 30 }, () => item('batch-a')), item('batch-b')]),
    );
    fixture.reset();
    await lambdas.batch(fixture.account, {
      body,
      prefix: 'Svc',
      callerIp: '192.0.2.1',
      host: 'api.example.com',
    });
    await expectShown('batch-a');
    await expectShown('batch-b');
    // Two for each key, and two of this test.
    expect(fixture.callsOf('GetItemCommand')).toBe(6);
    expect(fixture.callsOf('PutItemCommand')).toBe(2);
  });

  it('of a schedule is created with the schedule, and exists when it fires', async () => {
    const config = configOf({ ...named('nightly'), cron: '0 3 * * *' });
    const { scheduleId } = await lambdas.createSchedule(fixture.account, { ...requestOf(url), config });
    await expectShown('nightly');
    await fixture.dynamodb.send(
      new DeleteItemCommand({ TableName: fixture.settings.lanesTable, Key: rowKey('nightly') }),
    );
    later();
    await lambdas.runSchedule(fixture.account, scheduleId, 'api.example.com');
    await expectShown('nightly');
  });

  it('of a dead letter is created if the retry names another key', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    await fixture.send(inbox.url, { retries: '0' });
    await fixture.doJobs();
    const { messages } = await lambdas.listDeadLetters(fixture.account, {
      ...noFilter,
      values: new Map([['url', new Set([inbox.url])]]),
    });
    await lambdas.retryDeadLetter(fixture.account, messages[0]?.dlqId ?? '', {
      prefix: 'Svc',
      config: configOf(named('again', { delay: '1h' })),
      host: 'api.example.com',
    });
    await expectShown('again');
  });

  it('of a run is created when the run starts', async () => {
    const settings = {
      ...startSettings().settings,
      flowControl: { key: 'run', parallelism: 3, rate: 7, period: 60 },
    };
    await runFixture.start('wfr_named', { notBefore: Date.now() + 3_600_000, details: { settings } });
    await expectShown('run');
  });

  it('is created again by the next message if it was deleted', async () => {
    await fixture.send(url, named('deleted', { delay: '1h' }));
    await fixture.dynamodb.send(
      new DeleteItemCommand({ TableName: fixture.settings.lanesTable, Key: rowKey('deleted') }),
    );
    later();
    await fixture.send(url, named('deleted', { delay: '1h' }));
    await expectShown('deleted');
  });

  it('that expires soon is kept by the next message', async () => {
    await fixture.send(url, named('old', { delay: '1h' }));
    const soon = Math.ceil(Date.now() / 1_000) + 3_600;
    await fixture.dynamodb.send(
      new UpdateItemCommand({
        TableName: fixture.settings.lanesTable,
        Key: rowKey('old'),
        UpdateExpression: 'SET expiresAt = :soon',
        ExpressionAttributeValues: { ':soon': { N: String(soon) } },
      }),
    );
    later();
    await fixture.send(url, named('old', { delay: '1h' }));
    expect(await lambdas.laneLastsUntil(laneOf('old'))).toBeGreaterThan(Date.now() + 29 * dayMs);
  });

  it('is kept for a message that is due in a hundred days, and for the next one without another write', async () => {
    await fixture.send(url, named('far', { delay: '1h' }));
    await fixture.send(url, named('far', { delay: '100d' }));
    const until = await lambdas.laneLastsUntil(laneOf('far'));
    expect(until).toBeGreaterThan(Date.now() + 100 * dayMs);
    // Other changes of the lane do not change its expiry.
    await lambdas.pauseFlowControl(fixture.account, 'far');
    await lambdas.resumeFlowControl(fixture.account, 'far');
    expect(await lambdas.laneLastsUntil(laneOf('far'))).toBe(until);
    const { version } = (await lambdas.loadLane(laneOf('far'))) ?? {};
    await fixture.send(url, named('far', { delay: '100d' }));
    expect((await lambdas.loadLane(laneOf('far')))?.version).toBe(version);
  });

  it('keeps the limits of its newest message, whichever message is due first', async () => {
    await fixture.send(url, { ...named('newest', { delay: '1h' }), 'flow-control-value': 'parallelism=1' });
    const inbox = fixture.receiver.inbox();
    await fixture.send(inbox.url, named('newest'));
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
    expect(await lambdas.getFlowControl(fixture.account, 'newest')).toMatchObject({ parallelismMax: 3 });
  });
});

describe('a process that dies while it accepts the first message of a key', () => {
  /** Publishes in a process that dies, and then again like a client without an answer. */
  async function publishAgain(fate: Fate): Promise<void> {
    const inbox = fixture.receiver.inbox();
    const key = `dies-${fate.name}`;
    const first = await fixture.underFate(fate, () => fixture.send(inbox.url, named(key)));
    later();
    const second = await fixture.send(inbox.url, named(key));
    await expectShown(key);
    await fixture.doJobs();
    const delivered = idsOf(inbox.deliveries);
    expect(delivered).toContain(second);
    if (first !== undefined) expect(delivered).toContain(first.value);
  }

  itAtEachDeath('leaves nothing half-done, at whichever call', publishAgain);

  it('accepts nothing if the key cannot be created', async () => {
    const inbox = fixture.receiver.inbox();
    await fixture.underFate(fateAt({ call: 1, when: 'before', survived: true }), () =>
      expect(fixture.send(inbox.url, named('unmade'))).rejects.toMatchObject({ status: 503 }),
    );
    fixture.reset();
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    expect(await lambdas.loadLane(laneOf('unmade'))).toBeUndefined();
  });
});
