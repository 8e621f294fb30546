import { WorkflowNonRetryableError } from '@upstash/workflow';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/publish.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

const openRuns = (at: string, options: Parameters<typeof openConsole>[0] = {}): Promise<Page> =>
  openConsole({ at, token: app.token, ...options });

const openRun = (id: string, options: Parameters<typeof openConsole>[0] = {}): Promise<Page> =>
  openRuns(`#/runs/${encodeURIComponent(id)}`, options);

/** The second step fails until it is repaired. */
function broken() {
  const flow = { isMended: false, ran: 0, url: '' };
  flow.url = app.serve<string>(async (context) => {
    const first = await context.run('first', () => {
      flow.ran += 1;
      return { kept: context.requestPayload };
    });
    const second = await context.run('second', () => {
      if (!flow.isMended) throw new Error('the database is away');
      return 'done';
    });
    return { first, second };
  });
  return flow;
}

const letters = z.object({ messages: z.array(z.looseObject({ dlqId: z.string() })) });

const lettersOf = async (label: string) =>
  letters.parse(await ok(api('GET', `/v2/workflows/dlq?label=${label}`, { token: app.token }))).messages;

/** Starts failing runs, and waits until they can be resumed. */
async function fail(url: string, label: string, count = 1): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const { workflowRunId } = await app.client.trigger({ url, body: `"${label}"`, retries: 0, label });
    ids.push(workflowRunId);
  }
  await eventually(
    () => lettersOf(label),
    ({ length }) => length === count,
  );
  return ids;
}

async function waiting(eventId: string, label: string): Promise<string> {
  const url = app.serve(async (context) => {
    const { eventData, timeout } = await context.waitForEvent('approval', eventId, { timeout: '3d' });
    return { eventData, timeout };
  });
  const { workflowRunId } = await app.client.trigger({ url, label });
  await app.logged(workflowRunId, ({ steps }) =>
    steps.some(({ steps: group }) => group.some((step) => 'waitEventId' in step)),
  );
  return workflowRunId;
}

const stateOf = (page: Page, state: string) =>
  page.getByRole('main').getByText(state, { exact: true }).first();

describe('A run', () => {
  it('shows its steps on a time line, parallel ones side by side, with their outcomes', async () => {
    const third = app.answer(() => new Response('{"tax":7}', { headers: { 'content-type': 'text/json' } }));
    const child = app.serve(async (context) => context.run('grow', () => 'grown'));
    const url = app.serve<{ order: number }>(async (context) => {
      await context.run('begin', () => ({ begun: context.requestPayload.order }));
      await Promise.all([
        context.run('left', () => 'from the left'),
        context.sleep('middle', 1),
        context.call('right', { url: third, method: 'POST', body: '{"amount":1}' }),
      ]);
      await context.invoke('child', {
        workflow: {
          workflowId: child.split('/').at(-1) ?? '',
          routeFunction: () => Promise.resolve(undefined),
          options: {},
        },
        body: undefined,
      });
      return 'all done';
    });
    const label = unique('steps');
    const { workflowRunId } = await app.client.trigger({ url, body: { order: 42 }, label });
    await app.logged(workflowRunId);
    const page = await openRuns(`#/runs?label=${label}`);
    const row = page.getByRole('row', { name: workflowRunId });
    await row.getByText('succeeded').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: workflowRunId, level: 1 }).waitFor();
    const parallel = page.getByRole('list', { name: '3 steps in parallel' });
    await parallel.waitFor();
    expect(await parallel.getByRole('listitem').count()).toBe(3);
    await page.getByRole('region', { name: 'Request' }).getByText('"order": 42').waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('all done').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const step = async (name: string): Promise<void> => {
      await page.getByRole('link', { name, exact: true }).click();
    };
    await step('begin');
    await page.getByRole('region', { name: 'result of begin' }).getByText('"begun": 42').waitFor();
    await step('right');
    await page.getByRole('region', { name: 'answer of right' }).getByText('"tax": 7').waitFor();
    await page.getByText(`POST ${third}`).waitFor();
    expect(await page.getByRole('region', { name: 'result of right' }).count()).toBe(0);
    expect(await page.locator('.step-details a[href^="#/messages/msg_"]').count()).toBe(1);
    expect(await barriersOf(page)).toEqual([]);
    await page.reload();
    await page.getByRole('region', { name: 'answer of right' }).waitFor();
    expect(await page.getByRole('region', { name: 'result of begin' }).count()).toBe(0);
    await step('child');
    await page.locator('.step-details').getByRole('link', { name: /^wfr_/ }).click();
    await page.getByRole('link', { name: 'grow', exact: true }).waitFor();
    await page.getByRole('link', { name: workflowRunId }).click();
    await page.getByRole('heading', { name: workflowRunId, level: 1 }).waitFor();
  });

  it('that failed is resumed, with other settings, and succeeds', async () => {
    const flow = broken();
    const label = unique('resumed');
    const [id = ''] = await fail(flow.url, label);
    const page = await openRuns(`#/runs?list=failed&label=${label}`, { refusals: [400] });
    await page.getByRole('row', { name: id }).getByRole('link').click();
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('Error: the database is away').first().waitFor();
    expect(await why.getByRole('region', { name: 'failure 1' }).textContent()).toMatch(/away\n\s+at /);
    await page.getByRole('link', { name: 'second', exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    flow.isMended = true;
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Change settings').click();
    // A run has no timeout that could be changed.
    expect(await page.getByLabel('Timeout').count()).toBe(0);
    await page.getByLabel('Retries', { exact: true }).fill('many');
    await page.getByLabel('Labels').fill(`${label}, größer`);
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Retries is "many"').waitFor();
    await page.getByLabel('Retries', { exact: true }).fill('2');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The run is resumed. This is the new one.').waitFor();
    await page.getByRole('heading', { name: id, level: 1 }).waitFor({ state: 'detached' });
    await stateOf(page, 'succeeded').waitFor();
    expect(flow.ran).toBe(1);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('"second": "done"').waitFor();
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await page
      .locator('.step-details')
      .getByText('Maximum retries')
      .locator('xpath=..')
      .getByText('2')
      .waitFor();
    expect(await lettersOf(label)).toEqual([]);
  });

  it('that failed is restarted from its first step, or its dead letter is deleted', async () => {
    const flow = broken();
    const label = unique('restarted');
    const [first = '', second = ''] = await fail(flow.url, label, 2);
    const page = await openRun(second);
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Restart' }).waitFor({ state: 'detached' });
    expect(await lettersOf(label)).toHaveLength(1);
    flow.isMended = true;
    const other = await openRun(first);
    await other.getByRole('button', { name: 'Restart' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    await other.getByRole('heading', { name: first, level: 1 }).waitFor({ state: 'detached' });
    await other.getByRole('region', { name: 'Result' }).waitFor();
    await stateOf(other, 'succeeded').waitFor();
    expect(flow.ran).toBe(3);
  });

  it('has its failure function called again', async () => {
    const told = { isAway: true, count: 0 };
    const url = app.serve(
      async (context) => {
        await context.run('only', () => {
          throw new Error('never');
        });
      },
      {
        failureFunction: async () => {
          told.count += 1;
          await Promise.resolve();
          if (told.isAway) throw new Error('nobody listens');
          return 'told at last';
        },
      },
    );
    const [id = ''] = await fail(url, unique('told'));
    const page = await openRun(id);
    const failure = page.getByRole('region', { name: 'Failure function' });
    await failure.getByText('nobody listens').first().waitFor();
    told.isAway = false;
    await page.getByRole('button', { name: 'Call failure function' }).click();
    await failure.getByText('succeeded').waitFor();
    await failure.getByText('told at last').waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('that waits for an event gets it', async () => {
    const id = await waiting('order/42 paid', unique('waits'));
    const page = await openRun(id, { refusals: [412] });
    await page.getByRole('link', { name: 'approval' }).click();
    await page.locator('.step-details').getByText('order/42 paid').waitFor();
    await page.getByText('3d', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Notify' }).click();
    expect(await page.getByLabel('Event id').inputValue()).toBe('order/42 paid');
    const dialog = page.getByRole('dialog');
    const send = () => dialog.getByRole('button', { name: 'Notify' }).click();
    // An error is shown in words under its field, and nothing is sent.
    await page.getByLabel('Data').fill('{"by":"me"');
    await send();
    await wrongUnder(page, 'Data').getByText('Data is not valid JSON; put plain text in quotes').waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    await page.getByLabel('Data').fill('{"by":"me"}');
    await page.getByLabel('Event id').fill('e'.repeat(257));
    await send();
    await wrongUnder(page, 'Event id').getByText('Event id is "eee').waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    expect(await page.getByLabel('Data').inputValue()).toBe('{"by":"me"}');
    await page.getByLabel('Event id').fill('order/42 paid');
    expect(await wrongUnder(page, 'Event id').count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    await send();
    await page.getByText('The run continues with the event.').waitFor();
    await stateOf(page, 'succeeded').waitFor();
    expect((await app.logged(id)).workflowRunResponse).toBe('{"eventData":{"by":"me"},"timeout":false}');
  });

  it('that is active shows what it does, in lists and step by step, with its retries', async () => {
    const label = unique('doing');
    const asleep = app.serve((context) => context.sleep('night', 86_400));
    const failing = app.serve((context) =>
      context.run('try', () => {
        throw new Error('not yet');
      }),
    );
    await app.client.trigger({ url: asleep, label });
    const retried = await app.client.trigger({ url: failing, label, retries: 2, retryDelay: '3600000' });
    const event = await waiting(unique('event'), label);
    const page = await openRuns(`#/runs?label=${label}`);
    const rows = page.locator('tbody tr');
    for (const doing of ['sleeping', 'retrying', 'waiting for an event']) {
      await rows.getByText(doing, { exact: true }).waitFor();
    }
    await page.getByLabel('State').selectOption('RUN_SLEEPING');
    await rows.getByText('retrying', { exact: true }).waitFor({ state: 'detached' });
    await rows.getByText('sleeping', { exact: true }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^runs-.*csv$/);
    await page.getByLabel('State').selectOption('');
    await rows.filter({ hasText: retried.workflowRunId }).getByRole('link').click();
    await page.locator('.step').getByText('retrying', { exact: true }).waitFor();
    expect(await page.locator('.step svg g').count()).toBe(1);
    await page.goto(`${service.url}/console#/runs/${event}`);
    await page.locator('.step').getByText('waiting', { exact: true }).waitFor();
  });

  it('that must not be retried says so instead of a status', async () => {
    const url = app.serve((context) =>
      context.run('give up', () => {
        throw new WorkflowNonRetryableError('the order is void');
      }),
    );
    const label = unique('void');
    await fail(url, label);
    const page = await openRuns(`#/runs?list=failed&label=${label}`);
    await page.locator('tbody tr').getByText('not to be retried').waitFor();
    await page.locator('tbody tr').getByRole('link').click();
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('the order is void').first().waitFor();
    expect(await why.textContent()).not.toContain('489');
  });

  it('is cancelled', async () => {
    const id = await waiting(unique('event'), unique('cancelled'));
    const page = await openRun(id);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await stateOf(page, 'cancelled').waitFor();
    expect((await app.logged(id)).workflowState).toBe('RUN_CANCELED');
    expect(await page.getByRole('main').getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('whose id is a dot is not confused with all runs', async () => {
    const url = app.serve(async (context) => context.sleep('long', 1_000));
    const other = await app.client.trigger({ url });
    const start = { token: app.token, headers: { 'Svc-Workflow-RunId': '.' } };
    await ok(api('POST', `/v2/trigger/${url}`, start));
    const page = await openRun('.', { refusals: [404] });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('alert').getByText('There is no active run').waitFor();
    expect((await app.logged(other.workflowRunId, () => true)).workflowState).toBe('RUN_STARTED');
  });
});

describe('Runs', () => {
  it('that failed are resumed, restarted and deleted together, after their number is shown', async () => {
    const flow = broken();
    const label = unique('many');
    await fail(flow.url, label, 3);
    const page = await openRuns('#/runs');
    const tab = page.getByRole('link', { name: 'Failed, can be resumed' });
    await tab.click();
    // Before the other list’s filters appear, input goes into the first list’s.
    await tab.and(page.locator('[aria-current]')).waitFor();
    await page.getByRole('searchbox', { name: 'Label' }).fill(label);
    await page.waitForURL(new RegExp(`list=failed&label=${label}$`));
    const rows = page.getByRole('row').filter({ hasText: label });
    await rows.nth(2).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    // The dialogue does not count failures after it was opened.
    const openDialog = async (verb: string, number: string): Promise<void> => {
      await page
        .getByRole('button', { name: `${verb} the ${number === '1 run' ? '1 match' : '3 matches'}…` })
        .click();
      await page.getByRole('dialog', { name: `${verb} ${number}?` }).waitFor();
      expect(await barriersOf(page)).toEqual([]);
    };
    await openDialog('Restart', '3 runs');
    await page.getByRole('button', { name: 'Restart 3 runs' }).click();
    await page.getByText('3 runs restarted.').waitFor();
    // The resumed runs have failed again.
    await eventually(
      () => lettersOf(label),
      ({ length }) => length === 3 && flow.ran === 6,
    );
    flow.isMended = true;
    await openDialog('Resume', '3 runs');
    await page.getByRole('button', { name: 'Resume 3 runs' }).click();
    await page.getByText('3 runs resumed.').waitFor();
    await page.getByText('No run matches these filters.').waitFor();
    // A run that was still active would fail once more.
    await eventually(
      () => app.client.logs({ filter: { label, state: 'RUN_SUCCESS' } }),
      ({ runs }) => runs.length === 3,
    );
    expect(flow.ran).toBe(6);
    flow.isMended = false;
    await fail(flow.url, label);
    await openDialog('Delete', '1 run');
    await page.getByRole('button', { name: 'Delete 1 run' }).click();
    await page.getByText('1 run deleted.').waitFor();
    expect(await lettersOf(label)).toEqual([]);
  });

  it('that failed are grouped by their errors, counted on the tab, and resumed by selection', async () => {
    const flow = broken();
    const label = unique('picked');
    const [first = '', second = ''] = await fail(flow.url, label, 2);
    const page = await openRuns(`#/runs?list=failed&label=${label}`);
    const rowOf = (id: string) => page.getByRole('row').filter({ hasText: id });
    await rowOf(first).getByText('Error: the database is away', { exact: true }).waitFor();
    const badge = page.getByRole('navigation', { name: 'Lists' }).locator('.badge');
    expect(Number(await badge.textContent())).toBeGreaterThanOrEqual(2);
    await page.getByRole('button', { name: 'Resume the 2 matches…' }).waitFor();
    await rowOf(second).getByRole('checkbox').check();
    // The buttons stay visible above a list of any length.
    await page.setViewportSize({ width: 1_000, height: 300 });
    await rowOf(first).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 2_000);
    const button = page.getByRole('button', { name: 'Resume the 1 selected…' });
    const box = await button.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= 300).toBe(true);
    await page.setViewportSize({ width: 400, height: 500 });
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    flow.isMended = true;
    await button.click();
    await page.getByRole('dialog', { name: 'Resume 1 run?' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Resume 1 run' }).click();
    await page.getByText('1 run resumed.').waitFor();
    await rowOf(second).waitFor({ state: 'detached' });
    await rowOf(first).waitFor();
    await page.getByRole('button', { name: 'Delete the 1 match…' }).click();
    await page.getByText(`Filter: label ${label}.`).waitFor();
  });

  it('that are active are cancelled together, only those that match', async () => {
    const label = unique('stop');
    const ids = [await waiting(unique('event'), label), await waiting(unique('event'), label)];
    const other = await waiting(unique('event'), unique('other'));
    const page = await openRuns(`#/runs?label=${label}`);
    await page.getByRole('row', { name: ids[0] ?? '' }).waitFor();
    await page.getByRole('button', { name: 'Cancel all active runs' }).click();
    await page.getByRole('dialog', { name: 'Cancel 2 runs?' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('2 runs cancelled.').waitFor();
    await page.getByRole('row').getByText('cancelled').nth(1).waitFor();
    expect((await app.logged(other, () => true)).workflowState).toBe('RUN_STARTED');
    // The button is hidden for filters that a cancellation does not support.
    await page.getByLabel('State').selectOption('Failed');
    await page.getByRole('button', { name: 'Cancel all active runs' }).waitFor({ state: 'detached' });
  });

  it('that succeeded have no buttons, and no room for any below their titles', async () => {
    const ended = app.serve(async (context) => context.run('quick', () => 'done'));
    const { workflowRunId } = await app.client.trigger({ url: ended });
    const page = await openRun(workflowRunId, { viewport: { width: 400, height: 800 } });
    await page.getByRole('term').getByText('Duration').waitFor();
    const gap = async (): Promise<number> => {
      const title = await page.getByRole('heading', { level: 1 }).boundingBox();
      const card = await page.getByRole('main').locator('.card').first().boundingBox();
      return (card?.y ?? 0) - (title?.y ?? 0) - (title?.height ?? 0);
    };
    await expect.poll(gap).toBeLessThan(40);
  });
});
