import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFront, type Fault, type Front } from '../support/front.ts';
import { startInProcess } from '../support/inProcess.ts';

// Clients wait as long as on AWS: a silent stand-in counts as away instead of slow.
process.env['CLIENT_PATIENCE'] = '1';

/**
 * Tests that AWS does not answer: a connection is lost, or a service is away. Every client retries and then gives up in time.
 */

/** Each service’s URL variable and connections: one for each client and operation. */
const endpoints = [
  ['AWS_ENDPOINT_URL_DYNAMODB', 2],
  ['AWS_ENDPOINT_URL_SQS', 2],
  ['AWS_ENDPOINT_URL_SCHEDULER', 1],
  ['AWS_ENDPOINT_URL_S3', 3],
  ['AWS_ENDPOINT_URL_SECRETS_MANAGER', 1],
] as const;

async function calls(): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const [tables, work, accountChanges, scheduler, secrets, { openBucket }, { prepareClient }] =
    await Promise.all([
      import('../../lambdas/aws/dynamodb.ts'),
      import('../../lambdas/job/send.ts'),
      import('../../lambdas/management/store/accountChanges.ts'),
      import('../../lambdas/aws/scheduler.ts'),
      import('../../lambdas/account/secrets.ts'),
      import('../../lambdas/message/store/bucket.ts'),
      import('../../lambdas/aws/functionClient.ts'),
    ]);
  const nobody = new GetItemCommand({ TableName: 'accounts', Key: { id: { S: 'nobody' } } });
  await openBucket('bodies', prepareClient).put('16d/a/read', Buffer.from('content'));
  return {
    'the tables': () => tables.dynamodb.send(nobody),
    'the tables of another region': () => tables.dynamodbIn('us-east-1').send(nobody),
    'the queues of work': () =>
      work.sendJob({ kind: 'pump', accountId: 'a', lane: 'account', name: '', dueAt: 0 }, 0),
    'the queues of account changes': () => accountChanges.tellRegion('eu-central-1', { accountId: 'a' }, 0),
    'the schedules': () => scheduler.unschedule('nothing'),
    // Large enough for the SDK to ask first whether it may send it.
    'the bucket, when it is written': () =>
      openBucket('bodies', prepareClient).put('16d/a/m', new Uint8Array(3_000_000)),
    'the bucket, when it is read': async () => {
      expect(Buffer.from(await openBucket('bodies', prepareClient).get('16d/a/read')).toString()).toBe(
        'content',
      );
    },
    'the secrets': () => secrets.masterSecret(),
  };
}

interface Fixture {
  readonly outcomes: Promise<readonly (readonly [string | undefined, string])[]>;
  readonly faultsMet: () => number;
}

let inProcess: Awaited<ReturnType<typeof startInProcess>>;
const fronts: Front[] = [];

/** Starts a process with separate services. Resolves when all its calls have begun. */
async function start(fault: Fault, times?: number): Promise<Fixture> {
  const own = await Promise.all(
    endpoints.map(async ([variable, connections]) => {
      const front = await startFront(urls.get(variable) ?? '');
      process.env[variable] = front.url;
      return { front, connections };
    }),
  );
  fronts.push(...own.map(({ front }) => front));
  vi.resetModules();
  const made = Object.entries(await calls());
  for (const { front } of own) front.fail(fault, times);
  const settled = Promise.allSettled(made.map(([, call]) => call()));
  // From here on each client is connected.
  await Promise.all(own.map(({ front, connections }) => front.connected(connections)));
  return {
    outcomes: settled.then((all) => all.map(({ status }, index) => [made[index]?.[0], status] as const)),
    faultsMet: () => own.reduce((sum, { front }) => sum + front.faults(), 0),
  };
}

const faults = ['silent', 'halting'] as const;
const urls = new Map<string, string>();
/** They start one after the other, and then wait in parallel. */
const fixtures = new Map<Fault, { readonly forGood: Fixture; readonly once: Fixture }>();
beforeAll(async () => {
  inProcess = await startInProcess({ overHttp: true });
  for (const [variable] of endpoints) urls.set(variable, process.env[variable] ?? '');
  for (const fault of faults)
    fixtures.set(fault, { forGood: await start(fault), once: await start(fault, 1) });
});
afterAll(async () => {
  for (const front of fronts) await front.close();
  await inProcess.stop();
});

describe.each(faults)('services that are %s', (fault) => {
  it('are given up by every client after some tries, in time for its caller to answer', async () => {
    const fixture = fixtures.get(fault)?.forGood;
    const outcomes = await fixture?.outcomes;
    expect(outcomes?.filter(([, status]) => status !== 'rejected')).toEqual([]);
    // Four tries each, and three for the bucket, which is called twice.
    expect(fixture?.faultsMet()).toBe(6 * 4 + 2 * 3);
  });

  it('for one request are called again by every client, and answer', async () => {
    const fixture = fixtures.get(fault)?.once;
    const outcomes = await fixture?.outcomes;
    expect(outcomes?.filter(([, status]) => status !== 'fulfilled')).toEqual([]);
    expect(fixture?.faultsMet()).toBe(endpoints.length);
  });
});
