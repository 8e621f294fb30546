import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callbackOf } from '../../support/callbacks.ts';
import { eventually } from '../../support/eventually.ts';
import { Fate, fateAt, itAtEachDeath } from '../../support/faults.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { idsOf, openFixture, type Fixture } from '../../support/fixture.ts';

/** Kills a worker at each of its AWS calls. Then SQS redelivers its job. */

let fixture: Fixture;
let loadLane: LaneLambdas['loadLane'];
beforeAll(async () => {
  fixture = await openFixture();
  ({ loadLane } = await importLaneLambdas());
});
afterAll(() => fixture.close());
beforeEach(() => {
  fixture.reset();
});

interface FailingMessage {
  readonly inbox: Inbox;
  readonly callbacks: Inbox;
  readonly failures: Inbox;
  readonly messageId: string;
}

/** Sends a message that fails twice, with everything that can follow. */
async function failingMessage(): Promise<FailingMessage> {
  const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
  const callbacks = fixture.receiver.inbox();
  const failures = fixture.receiver.inbox();
  const messageId = await fixture.send(inbox.url, {
    retries: '1',
    'retry-delay': '0',
    callback: callbacks.url,
    'failure-callback': failures.url,
  });
  return { inbox, callbacks, failures, messageId };
}

describe('a worker that handles a failing message', () => {
  it('makes at most 26 AWS calls altogether', async () => {
    const failing = await failingMessage();
    expect(fixture.calls()).toBe(2);
    const counted = new Fate();
    await fixture.doJobs(counted);
    expect(failing.inbox.deliveries).toHaveLength(2);
    // Two attempts: a read, two writes each and their continuations. Three callbacks: a read and a write each. One lease of
    // slots.
    expect(counted.calls).toBeLessThanOrEqual(26);
    expect(counted.calls).toBeGreaterThan(10);
  });

  itAtEachDeath('and dies at any of its AWS calls loses nothing', async (fate) => {
    const { inbox, callbacks, failures, messageId } = await failingMessage();
    await fixture.doJobs(fate);

    // Only the attempt in flight may have been made twice.
    const tries = inbox.deliveries.map(({ headers }) => headers['svc-retried']);
    expect(new Set(tries)).toEqual(new Set(['0', '1']));
    expect(tries.length).toBeLessThanOrEqual(3);

    // Each callback is one message, delivered at least once, and reports its own attempt.
    expect(idsOf(callbacks.deliveries).size).toBe(2);
    expect(new Set(callbacks.deliveries.map((delivery) => callbackOf(delivery).retried))).toEqual(
      new Set([0, 1]),
    );
    expect(idsOf(failures.deliveries).size).toBe(1);
    expect(failures.deliveries[0] && callbackOf(failures.deliveries[0])).toMatchObject({
      sourceMessageId: messageId,
      retried: 1,
    });
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });
});

describe('two workers with the same attempt', () => {
  it('write one record, one callback message and one dead letter', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const failures = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { retries: '0', 'failure-callback': failures.url });
    const { job } = await fixture.receiveAttempt();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => fixture.deliver(job, false)));
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    // The worker whose record came second fails its job, which then changes nothing.
    await fixture.deliver(job, true);
    await fixture.doJobs();
    expect(idsOf(failures.deliveries).size).toBe(1);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });
});

const recordOf = async (messageId: string): Promise<void> => {
  await eventually(
    () => fixture.loadMessage({ accountId: fixture.account.id, messageId }),
    (history) => history?.attempts.length === 1,
  );
};

describe('two workers whose attempts at one message have different outcomes', () => {
  it.each([
    { queueName: undefined, recorded: 200, other: 500, retries: '1' },
    { queueName: undefined, recorded: 500, other: 200, retries: '1' },
    { queueName: 'twins-delivered', recorded: 200, other: 500, retries: '0' },
    { queueName: 'twins-failed', recorded: 500, other: 200, retries: '0' },
    { queueName: 'twins-retried', recorded: 500, other: 200, retries: '1' },
  ])(
    'report the recorded $recorded instead of $other, in the queue $queueName',
    async ({ queueName, recorded, other, retries }) => {
      let answerFirst: (() => void) | undefined;
      const inbox = fixture.receiver.inbox((delivery, response, count) => {
        if (delivery.headers['svc-retried'] !== '0') response.end();
        // The first request is answered late: its worker records before the second has its answer.
        else if (count === 0) answerFirst = () => response.writeHead(recorded).end();
        else {
          answerFirst?.();
          void recordOf(messageId).then(() => response.writeHead(other).end());
        }
      });
      const callbacks = fixture.receiver.inbox();
      const failures = fixture.receiver.inbox();
      const config = {
        callback: callbacks.url,
        'failure-callback': failures.url,
        retries,
        'retry-delay': '0',
      };
      const messageId =
        queueName === undefined
          ? await fixture.send(inbox.url, config)
          : await fixture.enqueue(queueName, inbox.url, config);
      const { job } = await fixture.receiveAttempt();
      const outcomes = await Promise.allSettled([0, 1].map(() => fixture.deliver(job, false)));
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      await fixture.deliver(job, true);
      await fixture.doJobs();
      const told = callbacks.deliveries.map(callbackOf).find(({ retried }) => retried === 0);
      expect(told).toMatchObject({ sourceMessageId: messageId, status: recorded });
      expect(idsOf(callbacks.deliveries).size).toBe(recorded === 500 && retries === '1' ? 2 : 1);
      expect(failures.deliveries).toHaveLength(recorded === 500 && retries === '0' ? 1 : 0);
      if (queueName !== undefined) {
        const lane = await loadLane({ accountId: fixture.account.id, kind: 'queue', name: queueName });
        expect(lane?.leases.size).toBe(0);
      }
    },
  );
});

describe('a message that SQS delivered twice', () => {
  it.each([500, 200])(
    'is failed by the worker that finds the record of a %i, because the other may not have continued',
    async (status) => {
      const inbox = fixture.receiver.inbox((delivery, response) =>
        response.writeHead(delivery.headers['svc-retried'] === '0' ? status : 200).end(),
      );
      const callbacks = fixture.receiver.inbox();
      await fixture.send(inbox.url, { retries: '1', 'retry-delay': '0', callback: callbacks.url });
      const { job } = await fixture.receiveAttempt();
      fixture.refuse('SendMessageCommand');
      await expect(fixture.deliver(job, false)).rejects.toThrow();
      fixture.reset();
      // If this job succeeded, SQS would delete the message, and the attempt might never be continued.
      await expect(fixture.deliver(job, false)).rejects.toThrow('is not sure to have continued');
      expect(inbox.deliveries).toHaveLength(1);
      await fixture.deliver(job, true);
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(status === 500 ? 2 : 1);
      expect(idsOf(callbacks.deliveries).size).toBe(inbox.deliveries.length);
    },
  );
});

describe('a publish', () => {
  it.each([
    { call: 1, when: 'before' },
    { call: 1, when: 'after' },
    { call: 2, when: 'before' },
    { call: 2, when: 'after' },
  ] as const)(
    'that cannot be stored because $when call $call fails is not accepted, and not delivered',
    async (failure) => {
      const inbox = fixture.receiver.inbox();
      // The process survives and has ended the message, so it was certainly not accepted.
      await fixture.underFate(fateAt({ ...failure, survived: true }), async () => {
        await expect(fixture.send(inbox.url)).rejects.toThrow('was not accepted');
      });
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(0);
    },
  );
});
