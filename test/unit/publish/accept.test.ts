import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../lambdas/shared/ids.ts';
import type { LaneKey } from '../../../lambdas/lane/lane.ts';
import type { Message } from '../../../lambdas/message/message.ts';
import { metricSums } from '../../support/metrics.ts';
import { openMetricFixture, switchMetricsOn, type MetricFixture } from '../../support/metricFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

switchMetricsOn();
let fixture: Fixture;
let metricFixture: MetricFixture;
let services: Awaited<ReturnType<typeof importServices>>;
let pattern: Message;

const importServices = async () => ({
  ...(await import('../../../lambdas/publish/accept.ts')),
  ...(await import('../../../lambdas/lane/joinQueues.ts')),
  ...(await import('../../../lambdas/lane/store/laneRows.ts')),
});

useFixture(
  async (opened) => {
    fixture = opened;
    metricFixture = await openMetricFixture(fixture);
    services = await importServices();
    const messageId = await fixture.send(fixture.receiver.origin, { delay: '1h', timeout: '20s' });
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error('The message is not there.');
    pattern = history.message;
  },
  { overHttp: true },
);
beforeEach(async () => {
  await fixture.drain();
  await metricFixture.forget();
});

const body = Buffer.from('work');
const draftOf = (of: Partial<Message> = {}) => ({
  message: { ...pattern, messageId: newId('msg', Date.now()), notBefore: Date.now(), ...of },
  body,
});
const inQueue = (queueName: string, of: Partial<Message> = {}) => draftOf({ queueName, ...of });
const named = (key: string) => draftOf({ flowControl: { key, parallelism: 1 } });

const laneOf = (kind: LaneKey['kind'], name: string) =>
  services.loadLane({ accountId: fixture.account.id, kind, name });

const jobIds = async (): Promise<readonly string[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? [job.messageId] : []));

async function endOf({ accountId, messageId }: Message) {
  const history = await fixture.loadMessage({ accountId, messageId });
  return history === undefined ? 'absent' : history.end;
}

/** Fails each write of rows that contains the text while an act runs. */
async function refusing<T>(text: string, act: () => Promise<T>): Promise<T> {
  let refusals = 0;
  fixture.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      if (JSON.stringify(args.input).includes(text)) {
        refusals += 1;
        throw new Error('It is refused.');
      }
      return next(args);
    },
    { step: 'initialize', name: 'refusing' },
  );
  try {
    return await act();
  } finally {
    fixture.dynamodb.middlewareStack.remove('refusing');
    expect(refusals).toBeGreaterThan(0);
  }
}

describe('a message', () => {
  it('is accepted when its row and its job are stored, and is counted', async () => {
    const draft = draftOf();
    const sums = await metricSums(
      metricFixture.withMetrics(async () => {
        expect(await services.accept(draft)).toBe(true);
      }),
    );
    expect(sums).toMatchObject({ Accepted: 1 });
    expect(await endOf(draft.message)).toBeUndefined();
    expect(await jobIds()).toEqual([draft.message.messageId]);
  });

  it('joins its queue only after its row is written', async () => {
    const draft = inQueue('refused');
    expect(await refusing('"notBefore"', () => services.accept(draft))).toBe(false);
    expect(await laneOf('queue', 'refused')).toBeUndefined();
    expect(await jobIds()).toEqual([]);
  });

  it('whose key or body cannot be stored is refused, and nothing is written', async () => {
    const draft = named('unmade');
    expect(await refusing('key#unmade', () => services.accept(draft))).toBe(false);
    expect(await endOf(draft.message)).toBe('absent');
    expect(await jobIds()).toEqual([]);
  });

  it('that cannot join its queue is refused and ended', async () => {
    const draft = inQueue('closed');
    expect(await refusing('queue#closed', () => services.accept(draft))).toBe(false);
    expect(await endOf(draft.message)).toBe('REJECTED');
  });

  it('of a queue with a delay joins the queue when it is due', async () => {
    const notBefore = Date.now() + 20_000;
    const [delayed, due] = [inQueue('delayed', { notBefore }), inQueue('due')];
    await services.accept(delayed);
    await services.accept(due);
    expect(await laneOf('queue', 'delayed')).toBeUndefined();
    expect((await laneOf('queue', 'due'))?.leases.size).toBe(1);
    vi.spyOn(Date, 'now').mockReturnValue(notBefore);
    expect([services.joinsAtOnce(delayed.message), services.joinsAtOnce(draftOf().message)]).toEqual([
      true,
      false,
    ]);
  });
});

describe('many messages', () => {
  it('are accepted together, those of a queue in order, and are counted', async () => {
    const ordered = Array.from({ length: 12 }, () => inQueue('ordered'));
    const notBefore = Date.now() + 20_000;
    const [plain, delayed] = [draftOf(), inQueue('later', { notBefore })];
    const sums = await metricSums(
      metricFixture.withMetrics(async () => {
        const failures = await services.acceptEach([...ordered, plain, delayed]);
        expect(failures.size).toBe(0);
      }),
    );
    expect(sums).toMatchObject({ Accepted: 14 });
    const lane = await laneOf('queue', 'ordered');
    const [first, ...others] = ordered.map(({ message }) => `${message.messageId.slice(4)}/0s`);
    expect([...(lane?.leases.keys() ?? [])]).toEqual([first]);
    expect([...(lane?.line.front ?? []), ...(lane?.line.back ?? [])]).toEqual(others);
    expect(await laneOf('queue', 'later')).toBeUndefined();
    expect(new Set(await jobIds())).toEqual(
      new Set([ordered[0]?.message.messageId, plain.message.messageId]),
    );
  });

  it('are accepted except for those that cannot be stored, which are named', async () => {
    const good = [draftOf(), inQueue('good')];
    const bad = [named('bad'), inQueue('bad')];
    const sums = await metricSums(
      metricFixture.withMetrics(async () => {
        const failures = await refusing('#bad', () => services.acceptEach([...good, ...bad]));
        expect([...failures.keys()]).toEqual(bad.map(({ message }) => message));
        for (const error of failures.values()) expect(String(error)).toMatch('It is refused.');
      }),
    );
    expect(sums).toMatchObject({ Accepted: 2 });
    expect(new Set(await jobIds())).toEqual(new Set(good.map(({ message }) => message.messageId)));
  });

  it('fail with the others of their write, and leave jobs without messages, which workers drop', async () => {
    const drafts = Array.from({ length: 26 }, () => draftOf());
    const [first] = drafts;
    if (first === undefined) throw new Error('There are none.');
    const failures = await refusing(first.message.messageId, () => services.acceptEach(drafts));
    expect(failures.size).toBe(25);
    expect(await jobIds()).toHaveLength(26);
    for (const message of failures.keys()) expect(await endOf(message)).toBe('absent');
  });

  it('whose jobs cannot be sent are named', async () => {
    const drafts = [draftOf(), inQueue('sendable')];
    fixture.refuse('SendMessageBatchCommand');
    const failures = await services.acceptEach(drafts);
    fixture.reset();
    expect(failures.size).toBe(2);
  });

  it('are all taken back', async () => {
    const drafts = Array.from({ length: 25 }, () => draftOf());
    await services.acceptEach(drafts);
    await services.takeBack(drafts);
    for (const { message } of drafts) expect(await endOf(message)).toBe('REJECTED');
  });
});
