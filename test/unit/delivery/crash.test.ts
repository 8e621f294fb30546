import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { callbackOf } from '../../support/callbacks.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { eventually } from '../../support/eventually.ts';
import { fateAt, itAtEachDeath } from '../../support/faults.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { idsOf, openFixture, type Fixture } from '../../support/fixture.ts';

/** Kills a worker at each of its AWS calls. Then SQS redelivers its job. */

let fixture: Fixture;
let loadLane: LaneLambdas['loadLane'];
beforeAll(async () => {
  fixture = await openFixture();
  ({ loadLane } = await importLaneLambdas());
});
afterAll(() => fixture.close());
beforeEach(async () => {
  // After a test that moved the clock, these are read again, which must not count.
  await Promise.all([fixture.readUsage(fixture.account), fixture.deploymentRules()]);
  fixture.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('a worker that handles a failing message', () => {
  itAtEachDeath('and dies at any of its AWS calls loses nothing', async (fate) => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const [callbacks, failures] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
    const messageId = await fixture.send(inbox.url, {
      retries: '1',
      'retry-delay': '0',
      callback: callbacks.url,
      'failure-callback': failures.url,
    });
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
    await Promise.all(Array.from({ length: 5 }, () => fixture.deliver(job, false)));
    await doAllJobs();
    expect(failures.deliveries).toHaveLength(1);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });
});

/** Does jobs until their follow-ups, and the follow-ups' own jobs, are done. */
async function doAllJobs(): Promise<void> {
  for (const minutes of [0, 20, 40, 60]) {
    setClockAhead(minutes * 60_000);
    await fixture.doJobs();
  }
}

const recordOf = async (messageId: string): Promise<void> => {
  await eventually(
    () => fixture.loadMessage({ accountId: fixture.account.id, messageId }),
    (history) => history?.attempts.length === 1,
  );
};

describe('two workers whose attempts at one message have different outcomes', () => {
  it.each([
    { queueName: undefined, recorded: 200, other: 500, retries: '1' },
    { queueName: 'twins-delivered', recorded: 200, other: 500, retries: '0' },
    { queueName: 'twins-failed', recorded: 500, other: 200, retries: '0' },
    { queueName: 'twins-retried', recorded: 500, other: 200, retries: '1' },
  ])(
    'report the recorded $recorded instead of $other, in the queue $queueName',
    async ({ queueName, recorded, other, retries }) => {
      let answerFirst: (() => void) | undefined;
      const inbox = fixture.receiver.inbox((delivery, response, count) => {
        if (delivery.headers['svc-retried'] !== '0') response.end();
        // The first request is answered only after the second worker has recorded its answer.
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
      await Promise.all([0, 1].map(() => fixture.deliver(job, false)));
      await doAllJobs();
      const told = callbacks.deliveries.map(callbackOf).find(({ retried }) => retried === 0);
      expect(told).toMatchObject({ sourceMessageId: messageId, status: recorded });
      expect(callbacks.deliveries).toHaveLength(recorded === 500 && retries === '1' ? 2 : 1);
      expect(inbox.deliveries).toHaveLength(recorded === 500 && retries === '1' ? 3 : 2);
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
    'is followed up by the worker that finds the record of a %i, because the other may not have continued',
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
      // SQS now deletes the message, also for the worker that has not continued.
      await fixture.deliver(job, false);
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(1);
      await doAllJobs();
      expect(inbox.deliveries).toHaveLength(status === 500 ? 2 : 1);
      expect(idsOf(callbacks.deliveries).size).toBe(inbox.deliveries.length);
    },
  );
});

describe('a publish', () => {
  it.each([
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
