import { describe, expect, it } from 'vitest';
import { noFilter } from '../../support/filters.ts';
import { openRunFixture, type RunFixture } from '../../support/runFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let runFixture: RunFixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
async function importLambdas() {
  const [logs, deadLetters, runs, filters] = await Promise.all([
    import('../../../lambdas/log/logs.ts'),
    import('../../../lambdas/deadLetter/deadLetters.ts'),
    import('../../../lambdas/workflow/logs.ts'),
    import('../../../lambdas/wire/filters.ts'),
  ]);
  return { ...logs, ...deadLetters, ...runs, parseFilter: filters.parseFilter };
}
useFixture(async (opened) => {
  fixture = opened;
  runFixture = await openRunFixture(fixture);
  lambdas = await importLambdas();
});

interface Page {
  readonly cursor?: string | undefined;
}

async function pagesOf<P extends Page>(
  read: (cursor: string | undefined) => Promise<P>,
): Promise<readonly P[]> {
  const pages = [await read(undefined)];
  for (let cursor = pages[0]?.cursor; cursor; cursor = pages.at(-1)?.cursor) pages.push(await read(cursor));
  return pages;
}

const earliest = 'earliestFirst' as const;

describe('the log, earliest first,', () => {
  it('is the reverse of the latest-first log, with pages of any length', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (let number = 0; number < 12; number += 1)
      await fixture.send(inbox.url, { retries: '0', label: 'order' });
    await fixture.doJobs();
    const values = new Map([['label', new Set(['order'])]] as const);
    const read = async (order: typeof earliest | undefined, count: number) => {
      const pages = await pagesOf((cursor) =>
        lambdas.listLogs(fixture.account, { ...noFilter, values, order, count, cursor }),
      );
      return pages.flatMap(({ logs }) =>
        logs.map(({ messageId, state, time }) => ({ messageId, state, time })),
      );
    };
    const latestFirst = await read(undefined, 1_000);
    // CREATED, ACTIVE, ERROR and FAILED.
    expect(latestFirst).toHaveLength(48);
    for (const count of [1, 3, 7, 1_000]) {
      expect(await read(earliest, count)).toEqual(latestFirst.toReversed());
    }
  });

  it('refuses a cursor of the other order', async () => {
    for (let number = 0; number < 3; number += 1) await fixture.send(fixture.receiver.inbox().url);
    const { cursor } = await lambdas.listLogs(fixture.account, { ...noFilter, count: 1 });
    expect(cursor).toBeDefined();
    await expect(
      lambdas.listLogs(fixture.account, { ...noFilter, count: 1, cursor, order: earliest }),
    ).rejects.toThrow('in the same order');
  });
});

describe('dead letters, earliest first,', () => {
  it('are the reverse of the latest-first list', async () => {
    const { messages: latestFirst } = await lambdas.listDeadLetters(fixture.account, noFilter);
    expect(latestFirst.length).toBeGreaterThan(5);
    const pages = await pagesOf((cursor) =>
      lambdas.listDeadLetters(fixture.account, { ...noFilter, order: earliest, count: 5, cursor }),
    );
    expect(pages.flatMap(({ messages }) => messages)).toEqual(latestFirst.toReversed());
  });
});

describe('runs, earliest first,', () => {
  it('are the reverse of the latest-first list', async () => {
    for (const id of ['wfr_a', 'wfr_b', 'wfr_c', 'wfr_d', 'wfr_e']) await runFixture.start(id);
    const read = async (...query: (readonly [string, string])[]) =>
      (
        await pagesOf((cursor) =>
          lambdas.listRuns(fixture.account, [...query, ...(cursor ? [['cursor', cursor] as const] : [])]),
        )
      ).flatMap(({ runs }) => runs.map(({ workflowRunId }) => workflowRunId));
    const latestFirst = await read();
    expect(new Set(latestFirst).size).toBe(5);
    expect(await read(['order', earliest], ['count', '2'])).toEqual(latestFirst.toReversed());
  });
});

describe('an order', () => {
  it.each(['logs', 'dlq', 'deadRuns'] as const)(
    'that is invalid is refused by %s, with the valid ones',
    (list) => {
      expect(() => lambdas.parseFilter(list, [['order', 'oldest']])).toThrow(
        'order is "oldest"; allowed are latestFirst, earliestFirst.',
      );
      expect(lambdas.parseFilter(list, [['order', earliest]]).order).toBe(earliest);
    },
  );
});

describe('a page of the log', () => {
  it('may have a thousand entries, and ends before it is too large', async () => {
    expect(lambdas.parseFilter('logs', [['count', '1000']]).count).toBe(1_000);
    expect(() => lambdas.parseFilter('logs', [['count', '1001']])).toThrow('from 1 to 1000');
    const headers = Array.from({ length: 8 }, (_, index) => [`x-${index}`, 'v'.repeat(1_000)] as const);
    for (let number = 0; number < 400; number += 1) {
      await fixture.publishRequest(fixture.account, {
        ...requestOf('https://example.com/large', { delay: '1h', label: 'large' }),
        config: new Map([
          ['delay', ['1h']],
          ['label', ['large']],
          ...headers.map(([name, value]): [string, string[]] => [`forward-${name}`, [value]]),
        ]),
      });
    }
    const values = new Map([['label', new Set(['large'])]] as const);
    const filter = { ...noFilter, values, count: 1_000 };
    const pages = await pagesOf((cursor) => lambdas.listEvents(fixture.account, { ...filter, cursor }));
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(6_000_000);
    expect(new Set(pages.flatMap(({ logs }) => logs.map(({ messageId }) => messageId))).size).toBe(400);
  });
});

describe('an entry for older clients', () => {
  it('has the older names, and the headers of callbacks, redacted like the message', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) =>
      response.writeHead(500, { 'x-why': 'no' }).end(),
    );
    const id = await fixture.send(inbox.url, {
      retries: '0',
      'retry-delay': '1000 * retried',
      callback: fixture.receiver.inbox().url,
      'callback-forward-x-one': '1',
      'failure-callback': fixture.receiver.inbox().url,
      'failure-callback-forward-x-two': '2',
      'failure-callback-forward-x-secret': 'secret',
      'redact-fields': 'header[x-secret]',
    });
    await fixture.doJobs();
    const { logs, events } = await lambdas.listEvents(fixture.account, { ...noFilter, ids: [id] });
    expect(events).toEqual(logs);
    const error = events.find(({ state }) => state === 'ERROR');
    expect(error).toMatchObject({
      retryDelayExpr: '1000 * retried',
      retryDelayExpression: '1000 * retried',
      responseHeader: { 'X-Why': ['no'] },
      callbackHeaders: { 'X-One': ['1'] },
      failureCallbackHeaders: { 'X-Two': ['2'] },
    });
    expect(JSON.stringify(events)).not.toContain('"secret"');
    expect(events.find(({ state }) => state === 'CREATED')).toMatchObject({
      callbackHeaders: { 'X-One': ['1'] },
    });
    const { logs: plain } = await lambdas.listLogs(fixture.account, { ...noFilter, ids: [id] });
    expect(plain[0]).not.toHaveProperty('callbackHeaders');
  });
});
