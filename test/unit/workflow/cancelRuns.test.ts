import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Header } from '../../../lambdas/shared/headers.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { openRunFixture, type RunFixture } from '../../support/runFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let runFixture: RunFixture;
const importLambdas = async () => {
  const [cancel, list, busy, change] = await Promise.all([
    import('../../../lambdas/workflow/cancelRuns.ts'),
    import('../../../lambdas/workflow/store/runList.ts'),
    import('../../../lambdas/workflow/refusals.ts'),
    import('../../../lambdas/workflow/runs/changeRun.ts'),
  ]);
  return { ...cancel, ...list, ...busy, ...change };
};
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
useFixture(
  async (opened) => {
    fixture = opened;
    runFixture = await openRunFixture(fixture);
    lambdas = await importLambdas();
  },
  // In one test each reading advances the clock, and the SDK’s readings count, too.
  { overHttp: true },
);

const cancel = async (query: readonly Header[], body?: unknown): Promise<number> => {
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  return (await lambdas.cancelRuns(fixture.account, query, bytes)).cancelled;
};
const stateOf = async (runId: string): Promise<string> => (await runFixture.snapshotOf(runId)).state;
const statesOf = (...runIds: readonly string[]): Promise<readonly string[]> =>
  Promise.all(runIds.map(stateOf));

// Gives each test an account without other runs.
afterEach(async () => {
  vi.restoreAllMocks();
  fixture.reset();
  while ((await cancel([])) > 0);
});

describe('cancelling many runs', () => {
  it.each<[how: string, query: readonly Header[], body?: unknown]>([
    ['nothing at all', []],
    ['an empty object', [], {}],
    ['a count alone', [['count', '100']]],
  ])('takes %s for all, those with a delayed start too', async (_, query, body) => {
    await runFixture.start('wfr_1');
    await runFixture.start('wfr_2', { notBefore: Date.now() + 3_600_000 });
    await runFixture.start('wfr_done');
    await runFixture.append('wfr_done', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
    const other = { ...fixture.account, id: 'other' };
    await runFixture.start('wfr_other', { account: other });

    expect(await cancel(query, body)).toBe(2);
    expect(await statesOf('wfr_1', 'wfr_2', 'wfr_done')).toEqual([
      'RUN_CANCELED',
      'RUN_CANCELED',
      'RUN_SUCCESS',
    ]);
    expect(await cancel(query, body)).toBe(0);
    expect((await lambdas.cancelRuns(other, [], new Uint8Array())).cancelled).toBe(1);
  });

  it('by ids cancels exactly these runs, and ignores every other filter', async () => {
    for (const runId of ['wfr_1', 'wfr_2', 'wfr_3', 'wfr_4', 'a,b']) await runFixture.start(runId);
    await runFixture.append('wfr_4', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
    const query: readonly Header[] = [
      ['workflowRunIds', 'wfr_1'],
      ['workflowRunIds', 'wfr_1'],
      ['workflowRunIds', 'wfr_2,wfr_4'],
      ['workflowRunIds', 'wfr_unknown'],
      ['workflowRunIds', 'x'.repeat(3_000)],
      ['label', 'of nobody'],
    ];
    expect(await cancel(query)).toBe(2);
    expect(await cancel([], { workflowRunIds: ['a,b'], workflowUrl: null })).toBe(1);
    expect(await statesOf('wfr_1', 'wfr_2', 'wfr_3', 'wfr_4', 'a,b')).toEqual([
      'RUN_CANCELED',
      'RUN_CANCELED',
      'RUN_STARTED',
      'RUN_SUCCESS',
      'RUN_CANCELED',
    ]);
  });

  const url = 'https://user:secret@flow.example:8443/orders/new?a=b,c';
  const settings = { maxRetries: 3, timeoutMs: 30_000, labels: ['one', 'two'], flowControl: { key: 'flow' } };
  it.each<[query: readonly Header[], isMatch: boolean, body?: unknown]>([
    [[['workflowUrl', 'https://flow.example:8443/ord']], true],
    [[], true, { workflowUrl: 'https://flow.example:8443/ord' }],
    [[], true, { workflowUrl: ['https://other.example/', url] }],
    [[], false, { workflowUrl: 'https://other.example/' }],
    [[['workflowUrl', 'flow.example']], false],
    [
      [
        ['workflowUrl', 'https://flow.example:8443/ord'],
        ['workflowUrlExactMatch', 'true'],
      ],
      false,
    ],
    [
      [
        ['workflowUrl', 'https://other.example/'],
        ['workflowUrl', 'https://flow.example:8443/orders/new?a=b,c'],
        ['workflowUrlExactMatch', 'true'],
      ],
      true,
    ],
    [[['host', 'flow.example:8443']], true],
    [[['host', 'flow.example']], false],
    [[['path', '/orders/new']], true],
    [[['path', '/orders']], false],
    [[['label', 'three, two']], true],
    [[['label', 'tw']], false],
    [[['flowControlKey', 'flow']], true],
    [[['flowControlKey', 'other']], false],
    [[['callerIp', '192.0.2.7']], true],
    [[['callerIP', '192.0.2.8']], false],
    [[['fromDate', '1']], true],
    [[['toDate', '1']], false],
    [
      [
        ['label', 'one'],
        ['flowControlKey', 'other'],
      ],
      false,
    ],
  ])('by %j matches: %j (%j)', async (query, isMatch, body) => {
    await runFixture.start('wfr_1', { details: { url, settings } });
    expect(await cancel(query, body)).toBe(isMatch ? 1 : 0);
    expect(await stateOf('wfr_1')).toBe(isMatch ? 'RUN_CANCELED' : 'RUN_STARTED');
  });

  it('includes both ends of the start dates', async () => {
    const { createdAt } = await runFixture.start('wfr_1');
    expect(await cancel([['fromDate', String(createdAt + 1)]])).toBe(0);
    expect(await cancel([['toDate', String(createdAt - 1)]])).toBe(0);
    expect(
      await cancel([
        ['fromDate', String(createdAt)],
        ['toDate', String(createdAt)],
      ]),
    ).toBe(1);
  });

  it('continues with each repetition until the answer is 0', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `wfr_${index}`);
    for (const runId of ids) await runFixture.start(runId);
    const counts: number[] = [];
    for (let last = -1; last !== 0; counts.push(last)) last = await cancel([['count', '12']]);
    expect(counts).toEqual([12, 12, 1, 0]);
    expect(new Set(await statesOf(...ids))).toEqual(new Set(['RUN_CANCELED']));
  });

  it('stops when its time is up, and says so even if it found nothing', async () => {
    for (let index = 0; index < 15; index += 1) await runFixture.start(`wfr_${index}`);
    const real = Date.now();
    let late = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real + (late += 1_000));
    const first = await cancel([]);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(15);
    await expect(cancel([['label', 'of nobody']])).rejects.toMatchObject({ status: 503 });
  });

  it.each<[query: readonly Header[], body: unknown, error: RegExp]>([
    [[['label', '']], undefined, /label.* is empty/],
    [[['workflowRunIds', 'a,,b']], undefined, /workflowRunIds.* is empty/],
    [[['workflowUrl', '']], undefined, /workflowUrl.* is empty/],
    [[['count', '0']], undefined, /count is "0"/],
    [[['count', '501']], undefined, /count is "501"/],
    [[['count', 'x']], undefined, /count is "x"/],
    [[['fromDate', '-1']], undefined, /fromDate is "-1"/],
    [[['workflowUrlExactMatch', 'yes']], undefined, /workflowUrlExactMatch is "yes"/],
    [[['cursor', 'x']], undefined, /"cursor" is not a filter here/],
    [[['state', 'RUN_STARTED']], undefined, /"state" is not a filter here/],
    [
      [
        ['count', '1'],
        ['count', '2'],
      ],
      undefined,
      /count is given 2 times/,
    ],
    [[], { workflowRunIds: [] }, /workflowRunIds/],
    [[], { workflowRunIds: [''] }, /workflowRunIds/],
    [[], { workflowUrl: '' }, /workflowUrl/],
    [[], { unknown: 1 }, /unknown/],
    [[], [], /The body/],
    [[], { workflowRunIds: Array.from({ length: 1_001 }, (_, index) => `wfr_${index}`) }, /1001 ids/],
  ])('refuses %j with %j', async (query, body, error) => {
    await runFixture.start('wfr_1');
    const refused = cancel(query, body);
    await expect(refused).rejects.toMatchObject({ status: 400 });
    await expect(refused).rejects.toThrow(error);
    expect(await stateOf('wfr_1')).toBe('RUN_STARTED');
  });

  itAtEachDeath('is complete after a repetition, wherever its process died', async (fate) => {
    const runId = `wfr_dies_${fate.name}`;
    await runFixture.start(runId);
    await fixture.underFate(fate, () => cancel([]));
    await cancel([]);
    expect(await stateOf(runId)).toBe('RUN_CANCELED');
    const { createdAt } = await runFixture.snapshotOf(runId);
    const listed = await lambdas.loadListedRun({ ...runFixture.keyOf(runId), createdAt });
    expect(listed?.state).toBe('RUN_CANCELED');
  });

  it('answers 503 if too many processes write the same run', async () => {
    const busy = lambdas.refuseWhenBusy(() => Promise.reject(new lambdas.RunBusy('busy')));
    await expect(busy).rejects.toMatchObject({ status: 503 });
    const broken = new Error('broken');
    await expect(lambdas.refuseWhenBusy(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});
