import { beforeEach, describe, expect, it, vi } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { keepFor } from '../../../lambdas/lane/rules/leaving.ts';
import type { Lanes } from '../../../lambdas/lane/slots/lanes.ts';
import type { AttemptJob } from '../../../lambdas/job/job.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
let lanes: Lanes;
let services: Awaited<ReturnType<typeof importServices>>;

async function importServices() {
  const [{ endMessage }, { giveUp }] = await Promise.all([
    import('../../../lambdas/message/messages.ts'),
    import('../../../lambdas/worker/perform.ts'),
  ]);
  return { endMessage, giveUp };
}

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  ({ lanes } = await import('../../../lambdas/lane/slots/processLanes.ts'));
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
});

const queueOf = (name: string) => ({ accountId: fixture.account.id, kind: 'queue', name }) as const;

const slotsOf = async (name: string): Promise<number | undefined> =>
  (await lambdas.loadLane(queueOf(name)))?.leases.size;

const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job] : []));

const shortEntry = (messageId: string): string => formatEntry({ messageId, attempt: 0, queue: 'short' });

describe('a callback that is noted again after it is over, because two workers make its attempt', () => {
  it('is removed again when it is sent again', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const callback = fixture.receiver.inbox();
    const config = { callback: callback.url, retries: '1', 'retry-delay': '0', timeout: '20s' };
    const messageId = await fixture.enqueue('noted', inbox.url, config);
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const following = await attempts();
    const told = following.find((one) => one.messageId !== messageId);
    const retry = following.find((one) => one.messageId === messageId);
    if (told === undefined || retry === undefined) throw new Error('An attempt is missing.');
    await fixture.deliver(told, false);
    // The second worker notes the callback before it finds the first one’s record and continues from it.
    await lanes.update(queueOf('noted'), (lane) => keepFor(lane, shortEntry(messageId), [told.messageId]));
    await fixture.deliver(job, true);
    for (const again of await attempts()) {
      // A recorded attempt is retried in case the first worker failed to continue.
      await fixture.deliver(again, false).catch(() => fixture.deliver(again, true));
    }
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
    expect(await slotsOf('noted')).toBe(0);
  });
});

describe('a callback that is cancelled by a process that dies right afterwards', () => {
  it('gives up the queue’s slot when its job is received', async () => {
    const inbox = fixture.receiver.inbox();
    const callback = fixture.receiver.inbox();
    const messageId = await fixture.enqueue('withdrawn', inbox.url, {
      callback: callback.url,
      timeout: '20s',
    });
    const { job } = await fixture.receiveAttempt();
    await fixture.deliver(job, false);
    const [told] = await attempts();
    if (told === undefined) throw new Error('There is no callback.');
    expect(told.messageId).not.toBe(messageId);
    const history = await fixture.loadMessage(told);
    if (history === undefined) throw new Error('The callback is not there.');
    await services.endMessage(history.message, 'CANCELED', Date.now());
    await fixture.deliver(told, false);
    expect(await slotsOf('withdrawn')).toBe(0);
  });
});

describe('a callback that cannot be stored, so that its message is given up', () => {
  it('is not waited for', async () => {
    const inbox = fixture.receiver.inbox();
    const callback = fixture.receiver.inbox();
    await fixture.enqueue('without', inbox.url, { callback: callback.url, timeout: '20s' });
    const { job } = await fixture.receiveAttempt();
    const name = 'callbackRows';
    fixture.dynamodb.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('"slotOf"')) throw new Error('It has no room.');
        return next(args);
      },
      { step: 'initialize', name },
    );
    await expect(fixture.deliver(job, false)).rejects.toThrow('It has no room.');
    await services.giveUp(job, 'faults');
    fixture.dynamodb.middlewareStack.remove(name);
    expect(await slotsOf('without')).toBe(1);

    const [told] = await attempts();
    if (told === undefined) throw new Error('The callback was not sent.');
    // A row that is missing after half a minute and 14 reads was never written.
    const later = Date.now() + 60_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    await fixture.deliver({ ...told, looks: 14 }, false);
    expect(await slotsOf('without')).toBe(0);
    expect(callback.deliveries).toEqual([]);
  });
});
