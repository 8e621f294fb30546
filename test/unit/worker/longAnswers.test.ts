import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  vi,
  type MockInstance,
} from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { longestTimeoutSeconds } from '../../../lambdas/aws/resources.ts';
import type { Queues } from '../../../local/sqs/queues.ts';
import { eventually } from '../../support/eventually.ts';
import { openFixture, requestOf, idOf, type Fixture } from '../../support/fixture.ts';
import { startFleet, type Fleet } from '../../support/fleet.ts';
import type { Inbox } from '../../support/receiver.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';

/**
 * Answers may take longer than a function’s 15 minutes. Workers hold messages and slots while they live, and minutes longer.
 * Timers are simulated, requests are real.
 */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const stepMs = 10 * secondMs;

let fixture: Fixture;
let lambdas: LaneLambdas;
let fleet: Fleet;
let account: Account;
let hidden: MockInstance<Queues['changeVisibility']>;
let opened = 0;

async function open(longest: number): Promise<void> {
  process.env['LONGEST_TIMEOUT'] = String(longest);
  vi.resetModules();
  fixture = await openFixture();
  lambdas = await importLaneLambdas();
}

async function close(): Promise<void> {
  delete process.env['LONGEST_TIMEOUT'];
  await fixture.close();
}

/** Opens a fleet for an account with the deployment’s longest timeout. */
async function startFor(longest: number): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  fixture.reset();
  opened += 1;
  const limits = { timeout: longest };
  account = { ...fixture.account, id: `patient-${opened}`, limits };
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  fleet = await startFleet(fixture.standIns);
  hidden = vi.spyOn(queuesOf(), 'changeVisibility');
}

async function end(): Promise<void> {
  await fleet.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
}

/** An inbox that answers when it is released. */
function heldInbox(): Inbox & { readonly letGo: () => void } {
  const held: ServerResponse[] = [];
  return {
    ...fixture.receiver.inbox((_delivery, response) => held.push(response)),
    letGo: () => {
      for (const response of held) response.writeHead(200).end();
    },
  };
}

const queuesOf = () => fixture.standIns.sqs.queues;

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await vi.advanceTimersByTimeAsync(Math.min(stepMs, ms - passed));
    // Due work writes to the store, sometimes after a read.
    for (let turn = 0; turn < 16; turn += 1) {
      await setImmediate();
      await fixture.standIns.store.committed();
    }
  }
}

async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  const isDone = Promise.allSettled([work]).then(() => true);
  const aMoment = (): Promise<boolean> => pass(10).then(() => false);
  for (let isOver = false; !isOver; isOver = await Promise.race([isDone, aMoment()]));
  return work;
}

async function send(
  url: string,
  config: Readonly<Record<string, string>>,
  queueName?: string,
): Promise<string> {
  const request = { ...requestOf(url, config), queueName };
  return idOf(await whileTimePasses(fixture.publishRequest(account, request)));
}

/** Lets time pass until a condition holds. */
async function passUntil(holds: () => boolean, mostMs: number): Promise<void> {
  for (let passed = 0; passed < mostMs; passed += stepMs) {
    if (holds()) return;
    await pass(stepMs);
  }
  throw new Error(`It did not hold within ${mostMs / minuteMs} minutes.`);
}

/** Waits for deliveries. A retried job takes simulated time, and new processes take real time to load. */
async function arrives({ deliveries }: Pick<Inbox, 'deliveries'>, count: number): Promise<void> {
  await eventually(
    async () => {
      await pass(secondMs);
      return deliveries.length;
    },
    (length) => length >= count,
  );
}

const statesOf = async (messageId: string): Promise<readonly string[] | undefined> =>
  (await fixture.loadMessage({ accountId: account.id, messageId }))?.attempts.map(({ state }) => state);

const delivered = (messageId: string) =>
  eventually(
    async () => {
      await pass(secondMs);
      return statesOf(messageId);
    },
    (states) => states?.length === 1 && states[0] === 'DELIVERED',
  );

function callsToHide(): readonly number[] {
  const [only] = queuesOf().unsettled('long');
  return hidden.mock.calls.flatMap(([{ messageId }, ms]) => (messageId === only?.id ? [ms] : []));
}

/** Waits until the worker has hidden the only long message for the first time. */
async function firstHeld(): Promise<void> {
  await pass(secondMs);
  await eventually(
    () => Promise.resolve(callsToHide()),
    (calls) => calls.length > 0,
  );
}

const receivesOf = (): readonly number[] =>
  queuesOf()
    .unsettled('long')
    .map(({ receives }) => receives);

describe('in a deployment on functions', () => {
  beforeAll(() => open(longestTimeoutSeconds.functions));
  afterAll(close);
  beforeEach(() => startFor(longestTimeoutSeconds.functions));
  afterEach(end);

  it('an answer after 13 minutes costs one call to hide its message', async () => {
    const inbox = heldInbox();
    const messageId = await send(inbox.url, { timeout: '14m' });
    await arrives(inbox, 1);
    await firstHeld();
    await pass(13 * minuteMs);
    expect(callsToHide()).toEqual([910 * secondMs]);
    inbox.letGo();
    await delivered(messageId);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('a message that was accepted with a longer timeout has 14 minutes', async () => {
    const inbox = heldInbox();
    account = { ...account, limits: { timeout: 5_280 } };
    const messageId = await send(inbox.url, { timeout: '5280s', retries: '0' });
    await arrives(inbox, 1);
    await firstHeld();
    await pass(14 * minuteMs + stepMs);
    await eventually(
      () => statesOf(messageId),
      (states) => states?.[0] === 'FAILED',
    );
    const [attempt] = (await fixture.loadMessage({ accountId: account.id, messageId }))?.attempts ?? [];
    expect(attempt?.response.error).toBe('The destination did not answer within 840 s.');
    inbox.letGo();
  });
});

describe('in a deployment on instances', () => {
  const longest = longestTimeoutSeconds.instances;
  beforeAll(() => open(longest));
  afterAll(close);
  beforeEach(() => startFor(longest));
  afterEach(end);

  const patient = { timeout: `${longest}s` };
  const keyed = { ...patient, 'flow-control-key': 'model', 'flow-control-value': 'parallelism=1' };

  it('an answer after 20 minutes is read once, and the next message of its key follows it', async () => {
    const inbox = heldInbox();
    const next = fixture.receiver.inbox();
    const first = await send(inbox.url, keyed);
    await arrives(inbox, 1);
    await firstHeld();
    const second = await send(next.url, keyed);
    await pass(20 * minuteMs);
    expect(next.deliveries).toHaveLength(0);
    expect(receivesOf()).toEqual([1]);
    // At first, and then every 90 s.
    expect(new Set(callsToHide())).toEqual(new Set([300 * secondMs]));
    expect(callsToHide().length).toBeLessThanOrEqual(14);
    inbox.letGo();
    await delivered(first);
    await pass(minuteMs);
    await delivered(second);
    expect([inbox, next].map(({ deliveries }) => deliveries.length)).toEqual([1, 1]);
  });

  it('an attempt of 80 minutes is repeated within minutes of its worker’s death', async () => {
    const inbox = heldInbox();
    const next = fixture.receiver.inbox();
    const first = await send(inbox.url, keyed, 'models');
    await arrives(inbox, 1);
    await firstHeld();
    const second = await send(next.url, keyed, 'models');
    await pass(30 * minuteMs);
    fleet.killWorkerOf(first);
    await passUntil(() => receivesOf().includes(2), 10 * minuteMs);
    await arrives(inbox, 2);
    await pass(50 * minuteMs);
    expect(receivesOf()).toEqual([2]);
    expect(next.deliveries).toHaveLength(0);
    inbox.letGo();
    await delivered(first);
    await pass(minuteMs);
    await delivered(second);
    await pass(20 * minuteMs);
    expect([inbox, next].map(({ deliveries }) => deliveries.length)).toEqual([2, 1]);
    expect(await statesOf(first)).toEqual(['DELIVERED']);
    const lane = await lambdas.loadLane({ accountId: account.id, kind: 'key', name: 'model' });
    expect([...(lane?.leases.values() ?? [])]).toEqual([]);
  });

  it('a queue continues soon after the death of a worker whose message was cancelled', async () => {
    const inbox = heldInbox();
    const next = fixture.receiver.inbox();
    const first = await send(inbox.url, patient, 'models');
    await arrives(inbox, 1);
    await firstHeld();
    await send(next.url, patient, 'models');
    await pass(10 * minuteMs);
    fleet.killWorkerOf(first);
    await whileTimePasses(lambdas.cancelMessage(account, first));
    await passUntil(() => next.deliveries.length > 0, 20 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    inbox.letGo();
  });

  it('a queue waits for the running attempt of a cancelled message', async () => {
    const inbox = heldInbox();
    const next = fixture.receiver.inbox();
    const first = await send(inbox.url, patient, 'models');
    await arrives(inbox, 1);
    await firstHeld();
    const second = await send(next.url, patient, 'models');
    await whileTimePasses(lambdas.cancelMessage(account, first));
    await pass(60 * minuteMs);
    expect(next.deliveries).toHaveLength(0);
    inbox.letGo();
    await passUntil(() => next.deliveries.length > 0, 20 * minuteMs);
    await delivered(second);
  });

  it('the long queue moves no slow jobs', async () => {
    const { noteTime, slowNameOf } = await import('../../../lambdas/job/slowJobs.ts');
    const host = 'render.example';
    const job = { kind: 'attempt', accountId: 'acct', messageId: 'msg_1', attempt: 0, host } as const;
    for (let made = 0; made < 9; made += 1) noteTime({ ...job, queue: 'long' }, `https://${host}/`, minuteMs);
    const names = (['short', 'long'] as const).map((queue) => slowNameOf({ ...job, queue }));
    expect(names).toEqual([host, undefined]);
  });

  it('a quick answer costs no call to hide its message', async () => {
    const inbox = fixture.receiver.inbox();
    const ids = await Promise.all([1, 2, 3].map(() => send(inbox.url, patient)));
    await inbox.received(ids.length);
    for (const messageId of ids) {
      await eventually(
        () => statesOf(messageId),
        (states) => states?.[0] === 'DELIVERED',
      );
    }
    expect(hidden).not.toHaveBeenCalled();
  });
});
