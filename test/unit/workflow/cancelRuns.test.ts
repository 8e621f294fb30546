import { afterEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';
import { itAtEachDeath } from '../../support/faults.ts';

useRuns(
  async () => {}, // In one test each reading advances the clock, and the SDK’s readings count, too.
  { overHttp: true },
);
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/workflow/cancelRuns.ts')),
  ...(await import('../../../lambdas/workflow/store/runList.ts')),
  ...(await import('../../../lambdas/workflow/refusedRequests.ts')),
  ...(await import('../../../lambdas/workflow/runs/changeRun.ts')),
}));

/** Cancels the runs that a query selects, such as `label=a&count=2`. */
const cancel = async (query = '', body?: unknown): Promise<number> => {
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  return (await lambdas.cancelRuns(fixture.account, [...new URLSearchParams(query)], bytes)).cancelled;
};
const stateOf = async (runId: string): Promise<string> => (await runFixture.snapshotOf(runId)).state;
const statesOf = (...runIds: readonly string[]): Promise<readonly string[]> =>
  Promise.all(runIds.map(stateOf));

// Gives each test an account without other runs.
afterEach(async () => {
  vi.restoreAllMocks();
  fixture.reset();
  while ((await cancel()) > 0);
});

describe('cancelling many runs', () => {
  it('takes a request without a filter for all, those with a delayed start too', async () => {
    const other = { ...fixture.account, id: 'other' };
    await runFixture.start('wfr_other', { account: other });
    for (const [query, body] of [[''], ['', {}], ['count=100']] as const) {
      await runFixture.start('wfr_1');
      await runFixture.start('wfr_2', { notBefore: Date.now() + 3_600_000 });
      await runFixture.start('wfr_done');
      await runFixture.append('wfr_done', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
      expect(await cancel(query, body)).toBe(2);
      expect(await statesOf('wfr_1', 'wfr_2', 'wfr_done')).toEqual([
        'RUN_CANCELED',
        'RUN_CANCELED',
        'RUN_SUCCESS',
      ]);
      expect(await cancel(query, body)).toBe(0);
    }
    expect((await lambdas.cancelRuns(other, [], new Uint8Array())).cancelled).toBe(1);
  });

  it('by ids cancels exactly these runs, and ignores every other filter', async () => {
    for (const runId of ['wfr_1', 'wfr_2', 'wfr_3', 'wfr_4', 'a,b']) await runFixture.start(runId);
    await runFixture.append('wfr_4', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
    const ids = ['wfr_1', 'wfr_1', 'wfr_2,wfr_4', 'wfr_unknown', 'x'.repeat(3_000)];
    expect(await cancel(`workflowRunIds=${ids.join('&workflowRunIds=')}&label=none`)).toBe(2);
    expect(await cancel('', { workflowRunIds: ['a,b'], workflowUrl: null })).toBe(1);
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
  const filters: readonly (readonly [query: string, isMatch: boolean, body?: unknown])[] = [
    ['workflowUrl=https://flow.example:8443/ord', true],
    ['', true, { workflowUrl: 'https://flow.example:8443/ord' }],
    ['', true, { workflowUrl: ['https://other.example/', url] }],
    ['', false, { workflowUrl: 'https://other.example/' }],
    ['workflowUrl=flow.example', false],
    ['workflowUrl=https://flow.example:8443/ord&workflowUrlExactMatch=true', false],
    [
      'workflowUrl=https://other.example/&workflowUrl=https://flow.example:8443/orders/new?a=b,c&workflowUrlExactMatch=true',
      true,
    ],
    ['host=flow.example:8443', true],
    ['host=flow.example', false],
    ['path=/orders/new', true],
    ['path=/orders', false],
    ['label=three, two', true],
    ['label=tw', false],
    ['flowControlKey=flow', true],
    ['flowControlKey=other', false],
    ['callerIp=192.0.2.7', true],
    ['callerIP=192.0.2.8', false],
    ['fromDate=1', true],
    ['toDate=1', false],
    ['label=one&flowControlKey=other', false],
  ];
  it('by a filter cancels only the runs that match', async () => {
    for (const [query, isMatch, body] of filters) {
      await runFixture.start('wfr_1', { details: { url, settings } });
      const state = isMatch ? 'RUN_CANCELED' : 'RUN_STARTED';
      expect([query, body, await cancel(query, body)]).toEqual([query, body, isMatch ? 1 : 0]);
      expect([query, body, await stateOf('wfr_1')]).toEqual([query, body, state]);
    }
  });

  it('includes both ends of the start dates', async () => {
    const { createdAt } = await runFixture.start('wfr_1');
    expect(await cancel(`fromDate=${createdAt + 1}`)).toBe(0);
    expect(await cancel(`toDate=${createdAt - 1}`)).toBe(0);
    expect(await cancel(`fromDate=${createdAt}&toDate=${createdAt}`)).toBe(1);
  });

  it('continues with each repetition until the answer is 0', async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `wfr_${index}`);
    for (const runId of ids) await runFixture.start(runId);
    const counts: number[] = [];
    for (let last = -1; last !== 0; counts.push(last)) last = await cancel('count=2');
    expect(counts).toEqual([2, 2, 1, 0]);
    expect(new Set(await statesOf(...ids))).toEqual(new Set(['RUN_CANCELED']));
  });

  it('stops when its time is up, and says so even if it found nothing', async () => {
    for (let index = 0; index < 15; index += 1) await runFixture.start(`wfr_${index}`);
    const real = Date.now();
    let late = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real + (late += 1_000));
    const first = await cancel();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(15);
    await expect(cancel('label=of nobody')).rejects.toMatchObject({ status: 503 });
  });

  const malformed: readonly (readonly [query: string, error: RegExp, body?: unknown])[] = [
    ['label=', /label.* is empty/],
    ['workflowRunIds=a,,b', /workflowRunIds.* is empty/],
    ['workflowUrl=', /workflowUrl.* is empty/],
    ['count=0', /count is "0"/],
    ['count=501', /count is "501"/],
    ['count=x', /count is "x"/],
    ['fromDate=-1', /fromDate is "-1"/],
    ['workflowUrlExactMatch=yes', /workflowUrlExactMatch is "yes"/],
    ['cursor=x', /"cursor" is not a filter here/],
    ['state=RUN_STARTED', /"state" is not a filter here/],
    ['count=1&count=2', /count is given 2 times/],
    ['', /workflowRunIds/, { workflowRunIds: [] }],
    ['', /workflowRunIds/, { workflowRunIds: [''] }],
    ['', /workflowUrl/, { workflowUrl: '' }],
    ['', /unknown/, { unknown: 1 }],
    ['', /The body/, []],
    ['', /1001 ids/, { workflowRunIds: Array.from({ length: 1_001 }, (_, index) => `wfr_${index}`) }],
  ];
  it('refuses malformed requests, and cancels nothing', async () => {
    await runFixture.start('wfr_1');
    for (const [query, error, body] of malformed) {
      const refused = cancel(query, body);
      await expect(refused).rejects.toMatchObject({ status: 400 });
      await expect(refused).rejects.toThrow(error);
    }
    expect(await stateOf('wfr_1')).toBe('RUN_STARTED');
  });

  itAtEachDeath('is complete after a repetition, wherever its process died', async (fate) => {
    const runId = `wfr_dies_${fate.name}`;
    await runFixture.start(runId);
    await fixture.underFate(fate, () => cancel());
    await cancel();
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
