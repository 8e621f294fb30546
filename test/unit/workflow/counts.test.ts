import { expect, it, vi } from 'vitest';
import { messageOf } from '../../support/messageOf.ts';
import { imported } from '../../support/imported.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { eachOf } from '../../../lambdas/shared/lists.ts';
import { noFilter } from '../../support/filters.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});
const services = imported(async () => ({
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/deadLetter/deadLetters.ts')),
  ...(await import('../../../lambdas/deadLetter/rows.ts')),
  ...(await import('../../../lambdas/workflow/logs.ts')),
  ...(await import('../../../lambdas/workflow/steps/trigger.ts')),
}));

function slowly(): void {
  const { now } = Date;
  let readings = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + (readings += 1) * 1_000);
}

interface Part {
  readonly count?: number | undefined;
  readonly cursor?: string | undefined;
}

async function partsOf(count: (cursor: string | undefined) => Promise<Part>): Promise<readonly number[]> {
  const parts: number[] = [];
  let cursor: string | undefined;
  do {
    slowly();
    const part = await count(cursor);
    vi.restoreAllMocks();
    parts.push(part.count ?? 0);
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

it('is unknown, not 0, if none was found in time', async () => {
  for (let sent = 0; sent < 3; sent += 1)
    await fixture.send('https://example.com/', { delay: '10m', label: 'behind' });
  for (let sent = 0; sent < 20; sent += 1)
    await fixture.send('https://example.com/', { delay: '10m', label: 'newer' });
  const behind = (cursor?: string) =>
    services.countMessages(fixture.account, {
      ...noFilter,
      cursor,
      values: new Map([['label', new Set(['behind'])]] as const),
    });
  slowly();
  const begunAt = Date.now();
  const { count, atLeast, read, readUntil = 0, cursor } = await behind();
  vi.restoreAllMocks();
  expect([count, atLeast, read]).toEqual([undefined, true, expect.any(Number)]);
  expect(read).toBeGreaterThan(0);
  expect(readUntil).toBeGreaterThan(begunAt - 60_000);
  expect(await behind(cursor)).toEqual({ count: 3, cursor: undefined });
  await fixture.drain();
});

let failed = 0;
/** Writes the dead letter of a message to a host. */
async function putDeadLetter(label: string, host = 'example.com'): Promise<void> {
  failed += 1;
  const failedAt = Date.now() - failed;
  const expiresAt = failedAt + 86_400_000;
  const times = { createdAt: failedAt, notBefore: failedAt, expiresAt };
  const messageId = newId('msg', failedAt);
  const url = `https://${host}/`;
  const message = messageOf({ messageId, accountId: fixture.account.id, url, labels: [label], ...times });
  const dlqId = newId('dlq', failedAt);
  const answer = { responseStatus: 500, responseHeaders: [] };
  await services.putDeadLetter({ dlqId, message, retried: 0, failedAt, expiresAt, ...answer });
}

it('of dead letters counts each match once in all its parts together, with separate groups in each part', async () => {
  for (let number = 0; number < many; number += 1) await putDeadLetter('counted');
  const parts = await partsOf(async (cursor) => {
    const part = await services.countDeadLetters(fixture.account, labelled(cursor));
    expect(sum(part.groups.map(({ count }) => count))).toBe(part.count ?? 0);
    for (const { firstFailedAt, lastFailedAt } of part.groups)
      expect(firstFailedAt).toBeLessThanOrEqual(lastFailedAt);
    return part;
  });
  expect(sum(parts)).toBe(many);
  expect(parts.length).toBeGreaterThan(2);
});

it('of dead letters shows the hundred most frequent groups', async () => {
  const hosts = Array.from({ length: 101 }, (_, number) => `host-${number}.example.com`);
  for (const host of [...hosts, ...hosts.slice(1)]) await putDeadLetter('hosts', host);
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

it('of all dead letters is exact, although not all of them were read for the groups', async () => {
  const before = (await services.countDeadLetters(fixture.account, noFilter)).count ?? 0;
  for (let number = 0; number < many; number += 1) await putDeadLetter('all', '東京.example.com');
  slowly();
  const counted = await services.countDeadLetters(fixture.account, noFilter);
  vi.restoreAllMocks();
  expect(counted).toMatchObject({ count: before + many });
  expect(counted).not.toHaveProperty('atLeast');
  expect(counted).not.toHaveProperty('cursor');
  expect(counted.grouped).toBeLessThan(many);
  expect(sum(counted.groups.map(({ count }) => count))).toBe(counted.grouped);
});
