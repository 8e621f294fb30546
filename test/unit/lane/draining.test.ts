import { beforeEach, describe, expect, it } from 'vitest';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';

/** A line drains without a pump: each attempt that leaves starts the next one. */

let fixture: Fixture;
const sent: string[] = [];

function bodiesIn(input: object): readonly string[] {
  if ('MessageBody' in input) return [String(input.MessageBody)];
  if (!('Entries' in input) || !Array.isArray(input.Entries)) return [];
  const entries: readonly unknown[] = input.Entries;
  return entries.flatMap((entry) => (entry instanceof Object ? bodiesIn(entry) : []));
}

let pause: (isPaused: boolean) => Promise<void>;

useFixture(async (opened) => {
  fixture = opened;
  const { lanes } = await import('../../../lambdas/lane/slots/processLanes.ts');
  const key = { accountId: fixture.account.id, kind: 'key', name: 'draining' } as const;
  pause = (isPaused) => lanes.update(key, (lane) => ({ ...lane, isPaused }));
  fixture.sqs.middlewareStack.add(
    (next) => (args) => {
      sent.push(...bodiesIn(args.input));
      return next(args);
    },
    { step: 'initialize', name: 'sent' },
  );
});
beforeEach(async () => {
  await fixture.drain();
  sent.length = 0;
});

const worksSent = () => sent.map((body) => fixture.parseJob(body));
const waiting = 30;

describe('a line of 30', () => {
  it('in a queue drains without a pump: each message is sent once, in its turn', async () => {
    const inbox = fixture.receiver.inbox();
    for (let number = 0; number < waiting; number += 1) {
      await fixture.publishRequest(fixture.account, { ...requestOf(inbox.url), queueName: 'draining' });
    }
    expect(worksSent().filter(({ kind }) => kind === 'attempt')).toHaveLength(1);
    // Does the visible jobs only, without letting time pass.
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(waiting);
    expect(worksSent().filter(({ kind }) => kind === 'attempt')).toHaveLength(waiting);
    expect(worksSent().filter(({ kind }) => kind === 'pump')).toEqual([]);
  });

  it('under a key drains before the pump that checks for workers that died', async () => {
    const inbox = fixture.receiver.inbox();
    const config = { 'flow-control-key': 'draining', 'flow-control-value': 'parallelism=1' };
    await pause(true);
    for (let number = 0; number < waiting; number += 1) {
      await fixture.publishRequest(fixture.account, requestOf(inbox.url, config));
    }
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    await pause(false);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(waiting);
    expect(worksSent().filter(({ kind }) => kind === 'pump').length).toBeLessThanOrEqual(1);
  });
});
