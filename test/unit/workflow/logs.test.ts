import { describe, expect, it, vi } from 'vitest';
import { waitRecord } from '../../support/runActs.ts';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';
import { idsOf, newMessageId, openRunLogs, stepsOf, type Run, type RunLogs } from '../../support/runLogs.ts';
import { resultOf } from '../../support/runFixture.ts';

let logs: RunLogs;
useRuns(async () => {
  logs = await openRunLogs(fixture);
});

/** Returns the page that a query selects, such as `label=a&count=2`. */
const page = (query = '') => logs.page(...new URLSearchParams(query));

describe('the runs that a query finds', () => {
  const url = 'https://filter.example:8443/a/b?c=d,e';
  const settings = { maxRetries: 3, timeoutMs: 30_000, labels: ['l1', 'l2'], flowControl: { key: 'fc' } };

  it('match all given filters', async () => {
    const { messageId, createdAt } = await runFixture.start('wfr_filter', {
      details: { url, settings, callerIp: '198.51.100.9' },
    });
    const waitId = newMessageId();
    await runFixture.append('wfr_filter', waitRecord(1, { messageId: waitId }));
    const id = 'workflowRunId=wfr_filter';
    const at = `workflowUrl=${encodeURIComponent(url)}`;
    for (const query of [
      id,
      `${id}&workflowCreatedAt=${createdAt}`,
      at,
      `workflowUrl=https://other.example/&${at}`,
      'host=filter.example:8443',
      `path=/a/b&${id}`,
      'label=l2',
      'flowControlKey=fc',
      'callerIp=198.51.100.9',
      'callerIP=198.51.100.9',
      `messageId=${messageId}`,
      `messageId=${waitId}`,
      `messageId=${waitId}&${id}`,
      `${id}&state=RUN_STARTED`,
      `${id}&state=run_failed,STEP_PROGRESS`,
      `${id}&fromDate=${createdAt}&toDate=${createdAt}`,
      `workflowRuns=wfr_unknown@1,wfr_filter@${createdAt}&label=of nobody`,
      `${id}&groupBy=workflowRunId&count=1`,
    ]) {
      expect([query, idsOf((await page(query)).runs)]).toEqual([query, ['wfr_filter']]);
    }
    for (const query of [
      `${id}&workflowCreatedAt=${createdAt + 1}`,
      'workflowUrl=https://filter.example:8443/a/b',
      'host=filter.example',
      `${id}&path=/a`,
      'label=l',
      'label=l1&flowControlKey=other',
      'callerIp=198.51.100.8',
      `messageId=${newMessageId()}`,
      'messageId=no id',
      `${id}&messageId=${await otherMessage()}`,
      `${id}&state=RUN_SUCCESS`,
      `${id}&state=STEP_FAILED`,
      `${id}&fromDate=${createdAt + 1}`,
      `${id}&toDate=${createdAt - 1}`,
      'workflowRunId=wfr_unknown',
      `workflowRunId=${'x'.repeat(3_000)}`,
      `workflowRuns=wfr_filter@${createdAt + 1}`,
    ]) {
      expect([query, await page(query)]).toEqual([query, { cursor: '', runs: [] }]);
    }
  });

  const otherMessage = async () => (await runFixture.start('wfr_otherMessage')).messageId;

  it.each([
    ['label=', /label.* is empty/],
    ['state=DONE', /state is "DONE"; allowed are RUN_STARTED/],
    ['count=101', /count is "101"/],
    ['trimBody=-2', /trimBody is "-2"/],
    ['fromDate=-0', /fromDate is "-0"; allowed is a whole number from 0/],
    ['groupBy=workflowUrl', /groupBy is "workflowUrl"/],
    ['workflowRuns=wfr_1', /workflowRuns has "wfr_1"/],
    ['workflowCreatedAt=x', /workflowCreatedAt is "x"/],
    ['cursor=made up', /cursor/],
    ['unknown=1', /"unknown" is not a filter here/],
    ['__proto__=1', /"__proto__" is not a filter here/],
    ['workflowRunId=a&workflowRunId=b', /workflowRunId is given 2 times/],
  ])('are refused for %s', async (query, error) => {
    const refused = page(query);
    await expect(refused).rejects.toMatchObject({ status: 400 });
    await expect(refused).rejects.toThrow(error);
  });

  it('include all runs of an id, newest first', async () => {
    for (const n of [1, 2, 3]) {
      await runFixture.start('wfr_often', { payload: String(n) });
      await runFixture.submit('wfr_often', [resultOf(1)]);
      if (n < 3) await runFixture.end('wfr_often', { state: 'RUN_CANCELED' });
    }
    const { runs, cursor } = await page('workflowRunId=wfr_often');
    expect(cursor).toBe('');
    expect(runs.map((run) => stepsOf(run)[0]?.out)).toEqual(['3', '2', '1']);
    expect(runs.map((run) => stepsOf(run).length)).toEqual([2, 2, 2]);
    expect(runs.map(({ workflowState }) => workflowState)).toEqual([
      'RUN_STARTED',
      'RUN_CANCELED',
      'RUN_CANCELED',
    ]);
    expect(await pagesOf('workflowRunId=wfr_often')).toEqual(runs);
    const names = runs.map(
      ({ workflowRunId, workflowRunCreatedAt }) => `${workflowRunId}@${workflowRunCreatedAt}`,
    );
    const named = `workflowRuns=${names.toReversed().join(',')}`;
    // Requests are shown if a run is named by its id.
    const listed = runs.toReversed().map((run) => ({ ...run, requests: undefined }));
    expect((await page(named)).runs).toEqual(listed);
    expect(await pagesOf(named)).toEqual(listed);
  });

  async function pagesOf(query: string): Promise<readonly Run[]> {
    const runs: Run[] = [];
    for (let cursor: string | undefined; cursor !== '';) {
      const more = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const found = await page(`${query}&count=1${more}`);
      runs.push(...found.runs);
      ({ cursor } = found);
    }
    return runs;
  }

  it('are returned page by page, even if they started at the same time', async () => {
    const at = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(at);
    const labels = ['paged'];
    const ids = Array.from({ length: 4 }, (_, index) => `wfr_paged${index}`);
    for (const runId of ids) {
      await runFixture.start(runId, { details: { settings: { maxRetries: 3, timeoutMs: 30_000, labels } } });
    }
    const { runs } = await page('label=paged');
    expect(new Set(idsOf(runs))).toEqual(new Set(ids));
    expect(await pagesOf('label=paged')).toEqual(runs);
  });

  it('have the state in their journal if the list does not have their end', async () => {
    await runFixture.start('wfr_stale', { details: { callerIp: '203.0.113.1' } });
    await runFixture.append('wfr_stale', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
    const of = async (state: string) => idsOf((await page(`callerIp=203.0.113.1&state=${state}`)).runs);
    expect(await of('RUN_SUCCESS')).toEqual(['wfr_stale']);
    expect(await of('RUN_STARTED')).toEqual([]);
  });

  it('are searched for as long as a request may last, and further with the cursor', async () => {
    for (let index = 0; index < 5; index += 1) await runFixture.start(`wfr_slow${index}`);
    const real = Date.now();
    let late = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real + (late += 2_000));
    const first = await page();
    expect(first.runs.length).toBeGreaterThan(0);
    expect(first.runs.length).toBeLessThan(5);
    expect(first.cursor).not.toBe('');
    const second = await page(`cursor=${encodeURIComponent(first.cursor)}`);
    expect(second.runs.length).toBeGreaterThan(0);
    expect(idsOf(second.runs).some((id) => idsOf(first.runs).includes(id))).toBe(false);
  });
});
