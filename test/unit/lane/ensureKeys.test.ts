import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath } from '../../support/faults.ts';
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

const importLambdas = async () => ({
  ...(await import('../../../lambdas/lane/flowControl.ts')),
  ...(await import('../../../lambdas/publish/batch.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/schedule/run.ts')),
  ...(await import('../../../lambdas/deadLetter/deadLetters.ts')),
  ...(await import('../../../lambdas/publish/retryDeadLetters.ts')),
  ...(await import('../../../lambdas/lane/store/laneRows.ts')),
  ...(await import('../../../lambdas/lane/lane.ts')),
});

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
  it('of a delayed message, its queue’s or its callbacks’, can be shown, pinned and paused at once', async () => {
    const more = {
      delay: '1h',
      callback: 'https://example.com/done',
      'callback-flow-control-key': 'told',
      'callback-flow-control-value': 'parallelism=3, rate=7, period=1m',
      'failure-callback': 'https://example.com/failed',
      'failure-callback-flow-control-key': 'failures',
      'failure-callback-flow-control-value': 'parallelism=3, rate=7, period=1m',
    };
    await fixture.send(url, named('delayed', more));
    await fixture.enqueue('line', url, named('queued', { delay: '1h' }));
    for (const key of ['delayed', 'told', 'failures', 'queued']) await expectShown(key);
    await lambdas.pinFlowControl(fixture.account, 'delayed', { parallelism: '1' });
    await lambdas.pauseFlowControl(fixture.account, 'delayed');
    expect(await lambdas.getFlowControl(fixture.account, 'delayed')).toMatchObject({
      parallelismMax: 1,
      isPaused: true,
      isPinnedParallelism: true,
    });
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
});

describe('a process that dies while it accepts the first message of a key', () => {
  itAtEachDeath('leaves nothing half-done, at whichever call', async (fate) => {
    const inbox = fixture.receiver.inbox();
    const key = `dies-${fate.name}`;
    const first = await fixture.underFate(fate, () => fixture.send(inbox.url, named(key)));
    later();
    // The client had no answer.
    const second = await fixture.send(inbox.url, named(key));
    await expectShown(key);
    await fixture.doJobs();
    const delivered = idsOf(inbox.deliveries);
    expect(delivered).toContain(second);
    if (first !== undefined) expect(delivered).toContain(first.value);
  });

  it('accepts nothing if the key cannot be read', async () => {
    const inbox = fixture.receiver.inbox();
    fixture.refuse('GetItemCommand');
    await expect(fixture.send(inbox.url, named('unmade'))).rejects.toMatchObject({ status: 503 });
    fixture.reset();
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    expect(await lambdas.loadLane(laneOf('unmade'))).toBeUndefined();
  });
});
