import { expect, it, vi } from 'vitest';
import { eachOf } from '../../../lambdas/shared/lists.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { noFilter } from '../../support/filters.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
const importServices = async () => {
  const [messages, listed, deadLetters, runs, workflows] = await Promise.all([
    import('../../../lambdas/publish/cancel.ts'),
    import('../../../lambdas/publish/listMessages.ts'),
    import('../../../lambdas/deadLetter/deadLetters.ts'),
    import('../../../lambdas/workflow/logs.ts'),
    import('../../../lambdas/workflow/steps/trigger.ts'),
  ]);
  return { ...messages, ...listed, ...deadLetters, ...runs, ...workflows };
};
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});

function slowly(): void {
  const { now } = Date;
  let readings = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + (readings += 1) * 1_000);
}

interface Part {
  readonly count: number;
  readonly cursor?: string | undefined;
}

async function partsOf(count: (cursor: string | undefined) => Promise<Part>): Promise<readonly number[]> {
  const parts: number[] = [];
  let cursor: string | undefined;
  do {
    slowly();
    const part = await count(cursor);
    vi.restoreAllMocks();
    parts.push(part.count);
    ({ cursor } = part);
  } while (cursor !== undefined);
  return parts;
}

const sum = (parts: readonly number[]): number => parts.reduce((all, one) => all + one, 0);

const labelled = (cursor: string | undefined) => ({
  ...noFilter,
  cursor,
  values: new Map([['label', new Set(['counted'])]] as const),
});

const many = 30;

it('of messages counts each match once in all its parts together', async () => {
  const ids: string[] = [];
  await eachOf(Array.from({ length: many }), 10, async (_, index) => {
    ids.push(await fixture.send('https://example.com/', { delay: '10m', label: 'counted' }));
    if (index % 2 === 0) await fixture.send('https://example.com/', { delay: '10m', label: 'other' });
  });
  const parts = await partsOf((cursor) => services.countMessages(fixture.account, labelled(cursor)));
  expect(sum(parts)).toBe(many);
  expect(parts.length).toBeGreaterThan(2);
  const byIds = await partsOf((cursor) =>
    services.countMessages(fixture.account, { ...noFilter, ids: ['msg_x', ...ids, 'msg_y'], cursor }),
  );
  expect(sum(byIds)).toBe(many);
  expect(byIds.length).toBeGreaterThan(2);
  await fixture.drain();
});

itAtEachDeath(
  'of messages agrees with their list, also about those whose publisher died',
  async (fate) => {
    const filter = { ...noFilter, values: new Map([['label', new Set([fate.name])]] as const) };
    await fixture.underFate(fate, () => fixture.send('https://example.com/', { label: fate.name }));
    const { messages } = await services.listMessages(fixture.account, filter);
    const { count } = await services.countMessages(fixture.account, filter);
    expect(count).toBe(messages.length);
    await fixture.drain();
  },
  { every: { ordinary: 1, thorough: 1 } },
);

it('of dead letters counts each match once in all its parts together, with separate groups in each part', async () => {
  const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
  await eachOf(Array.from({ length: many }), 10, async () => {
    await fixture.send(inbox.url, { retries: '0', label: 'counted' });
  });
  await fixture.doJobs();
  const parts = await partsOf(async (cursor) => {
    const part = await services.countDeadLetters(fixture.account, labelled(cursor));
    expect(sum(part.groups.map(({ count }) => count))).toBe(part.count);
    return part;
  });
  expect(sum(parts)).toBe(many);
  expect(parts.length).toBeGreaterThan(2);
});

it('of dead letters shows the hundred most frequent groups', async () => {
  const refusing = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
  const { port } = new URL(fixture.receiver.origin);
  const path = new URL(refusing.url).pathname;
  const hosts = Array.from({ length: 101 }, (_, number) => `127.0.1.${number + 1}:${port}`);
  await eachOf([...hosts, ...hosts.slice(1)], 10, async (host) => {
    await fixture.send(`http://${host}${path}`, { retries: '0', label: 'hosts' });
  });
  await fixture.doJobs();
  const filter = { ...noFilter, values: new Map([['label', new Set(['hosts'])]] as const) };
  const { count, groups } = await services.countDeadLetters(fixture.account, filter);
  expect([count, groups.length]).toEqual([201, 100]);
  expect(groups.map((group) => group.host).sort()).toEqual(hosts.slice(1).sort());
});

it('of runs counts the active runs in all its parts together', async () => {
  await eachOf(Array.from({ length: many }), 10, async () => {
    await services.trigger(fixture.account, {
      prefix: 'Svc',
      config: configOf({ delay: '10m', label: 'counted' }),
      otherHeaders: [],
      otherQuery: [],
      destination: 'https://example.com/run',
      body: Buffer.from('{}'),
      callerIp: '127.0.0.1',
      host: 'api.example.com',
    });
  });
  const parts = await partsOf((cursor) =>
    services.countRuns(fixture.account, [
      ['label', 'counted'],
      ...(cursor === undefined ? [] : [['cursor', cursor] as const]),
    ]),
  );
  expect(sum(parts)).toBe(many);
  expect(parts.length).toBeGreaterThan(2);
  await fixture.drain();
});
