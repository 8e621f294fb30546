import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import type { LaneKey } from '../../../lambdas/lane/lane.ts';
import { attemptJob, type AttemptJob } from '../../../lambdas/job/job.ts';
import { callbackOf } from '../../support/callbacks.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
let services: Awaited<ReturnType<typeof importServices>>;

const importServices = async () => ({
  ...(await import('../../../lambdas/worker/perform.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
});

async function historyOf(messageId: string, { id: accountId } = fixture.account) {
  const history = await fixture.loadMessage({ accountId, messageId });
  if (history === undefined) throw new Error('The message is not there.');
  return history;
}

const fault = new Error('It cannot be done.');
const outage = Object.assign(new Error('There is no answer.'), { name: 'TimeoutError' });

/** Fails each AWS call whose input contains the text while an act runs. */
async function whileFailing<T>(text: string, error: Error, act: () => Promise<T>): Promise<T> {
  let failures = 0;
  const fail = (input: object): void => {
    if (!JSON.stringify(input).includes(text)) return;
    failures += 1;
    throw error;
  };
  const options = { step: 'initialize', name: 'failing' } as const;
  const failing =
    <Args extends { readonly input: object }, Result>(next: (args: Args) => Promise<Result>) =>
    (args: Args): Promise<Result> => {
      fail(args.input);
      return next(args);
    };
  fixture.dynamodb.middlewareStack.add(failing, options);
  fixture.sqs.middlewareStack.add(failing, options);
  try {
    return await act();
  } finally {
    fixture.dynamodb.middlewareStack.remove(options.name);
    fixture.sqs.middlewareStack.remove(options.name);
    expect(failures).toBeGreaterThan(0);
  }
}

const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job] : []));

const slotsOf = async (kind: LaneKey['kind'], name: string): Promise<number | undefined> =>
  (await lambdas.loadLane({ accountId: fixture.account.id, kind, name }))?.leases.size;

const keyed = (name: string) => ({ 'flow-control-key': name, 'flow-control-value': 'parallelism=1' });

describe('an attempt that is given up', () => {
  it.each([
    { why: 'deaths', error: /^The delivery worker died each time/ },
    { why: 'faults', error: /^The service itself failed 10 times/ },
  ] as const)(
    'because of $why fails like the last one, with a dead letter, and says so',
    async ({ why, error }) => {
      const inbox = fixture.receiver.inbox();
      const told = fixture.receiver.inbox();
      const config = { retries: '3', 'failure-callback': told.url };
      const messageId = await fixture.send(inbox.url, config, 'the body');
      await services.giveUp((await fixture.receiveAttempt()).job, why);
      const { attempts: made } = await historyOf(messageId);
      expect(made).toMatchObject([{ number: 0, state: 'FAILED', response: { status: 0 } }]);
      expect(made[0]?.response.error).toMatch(error);
      expect(await fixture.deadLettersOf(messageId)).toBe(1);
      await fixture.doJobs();
      expect(inbox.deliveries).toEqual([]);
      const [callback] = told.deliveries;
      if (callback === undefined) throw new Error('Nobody was told.');
      const { sourceBody } = callbackOf(callback);
      expect(Buffer.from(sourceBody, 'base64').toString()).toBe('the body');
    },
  );

  it('gives back the slots of its key and its queue that a dead worker had', async () => {
    const config = { ...keyed('given up'), timeout: '20s' };
    await fixture.enqueue('given up', fixture.receiver.origin, config);
    const { job } = await fixture.receiveAttempt();
    await lambdas.saveLane({
      ...(await laneOf('key', 'given up')),
      leases: new Map([[`${job.messageId.slice(4)}/0s`, { slots: 1, until: Date.now() + 60_000 }]]),
    });
    await services.giveUp(job, 'deaths');
    expect([await slotsOf('key', 'given up'), await slotsOf('queue', 'given up')]).toEqual([0, 0]);
  });

  it('has a callback without the body if the body cannot be read, and is retried if it cannot be read now', async () => {
    const told = fixture.receiver.inbox();
    const body = Array.from({ length: 3_000 }, () => newId('msg', Date.now())[20]).join('');
    const messageId = await fixture.send(fixture.receiver.origin, { callback: told.url }, body);
    const { job } = await fixture.receiveAttempt();
    const giveUp = (error: Error) =>
      whileFailing(`"body#${messageId}"`, error, () => services.giveUp(job, 'faults'));
    await expect(giveUp(outage)).rejects.toThrow(outage);
    expect((await historyOf(messageId)).attempts).toEqual([]);
    await giveUp(fault);
    await fixture.doJobs();
    expect(told.deliveries.map((one) => callbackOf(one).sourceBody)).toEqual(['']);
  });
});

const laneOf = async (kind: LaneKey['kind'], name: string) => {
  const lane = await lambdas.loadLane({ accountId: fixture.account.id, kind, name });
  if (lane === undefined) throw new Error('The lane is not there.');
  return lane;
};

describe('a recorded attempt that is given up', () => {
  async function failed(config: Readonly<Record<string, string>> = {}) {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const messageId = await fixture.send(inbox.url, { retries: '3', 'retry-delay': '0', ...config });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const following = await attempts();
    return { messageId, job, following };
  }

  it('is continued, and does not fail', async () => {
    const { messageId, job } = await failed();
    await services.giveUp(job, 'faults');
    expect(await attempts()).toMatchObject([{ messageId, attempt: 1 }]);
    expect((await historyOf(messageId)).attempts).toHaveLength(1);
  });

  it('makes the next attempt fail if the service cannot send it', async () => {
    const { messageId, job } = await failed();
    await whileFailing('attempt\\":1', fault, () => services.giveUp(job, 'faults'));
    expect((await historyOf(messageId)).attempts).toMatchObject([
      { number: 0, state: 'RETRY' },
      { number: 1, state: 'FAILED' },
    ]);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });

  it('changes nothing if the next attempt is recorded, too', async () => {
    const callback = fixture.receiver.inbox();
    const { messageId, job, following } = await failed({ callback: callback.url });
    for (const one of following) await fixture.deliver(one, false);
    await fixture.drain();
    const told = following.find((one) => one.messageId !== messageId);
    await whileFailing(`${told?.messageId}`, fault, () => services.giveUp(job, 'faults'));
    expect((await historyOf(messageId)).attempts).toHaveLength(2);
    expect(await fixture.deadLettersOf(messageId)).toBe(0);
  });

  it('is retried if continuing fails only for a while, or if it was the last attempt', async () => {
    const { messageId, job } = await failed();
    const again = whileFailing('attempt\\":1', outage, () => services.giveUp(job, 'faults'));
    await expect(again).rejects.toThrow(outage);
    const last = await failed({ retries: '0' });
    const lastAgain = whileFailing('dlq_', fault, () => services.giveUp(last.job, 'faults'));
    await expect(lastAgain).rejects.toThrow(fault);
    for (const id of [messageId, last.messageId]) expect((await historyOf(id)).attempts).toHaveLength(1);
  });
});

describe('a job that is given up, and its message', () => {
  it('is missing: its grant ends', async () => {
    const messageId = newId('msg', Date.now());
    const ticket = 'lost';
    await fixture.send(fixture.receiver.origin, keyed('lost'));
    await lambdas.saveLane({
      ...(await laneOf('key', 'lost')),
      leases: new Map([[`${messageId.slice(4)}/0s`, { slots: 1, until: Date.now() + 60_000, ticket }]]),
    });
    const { account } = fixture;
    const job = attemptJob(
      { messageId, accountId: account.id, url: fixture.receiver.origin, timeoutMs: 1_000 },
      0,
    );
    await services.giveUp(
      { ...job, admittedTo: { lane: 'key', name: 'lost', ticket, sentAt: Date.now() } },
      'deaths',
    );
    expect(await slotsOf('key', 'lost')).toBe(0);
  });

  it('was cancelled: no attempt is made, and its slot is freed', async () => {
    const messageId = await fixture.enqueue('withdrawn', fixture.receiver.origin, { timeout: '20s' });
    const { job } = await fixture.receiveAttempt();
    await services.endMessage((await historyOf(messageId)).message, 'CANCELED', Date.now());
    await services.giveUp(job, 'deaths');
    expect((await historyOf(messageId)).attempts).toEqual([]);
    // Another worker may still be busy with it.
    const [lease] = (await laneOf('queue', 'withdrawn')).leases.values();
    expect(lease?.until).toBeGreaterThan(Date.now());
    expect(lease?.until).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  it.each([
    { state: 'is suspended', of: { active: false }, waits: 1 },
    { state: 'was deleted', of: { deletedAt: 1 }, waits: 0 },
  ])('has an account that $state: the message does not fail', async ({ state, of, waits }) => {
    const account: Account = { ...fixture.account, id: state.replaceAll(' ', '-') };
    await fixture.saveAccount(account, undefined);
    const messageId = idOf(await fixture.publishRequest(account, requestOf(fixture.receiver.origin)));
    const { job } = await fixture.receiveAttempt();
    const saved = await fixture.loadAccount(account.id, true);
    await fixture.saveAccount({ ...account, ...of }, saved);
    await services.giveUp(job, 'deaths');
    expect((await historyOf(messageId, account)).attempts).toEqual([]);
    const lane = await lambdas.loadLane({ accountId: account.id, kind: 'account', name: '' });
    expect(lane?.line.back.length ?? 0).toBe(waits);
  });
});
