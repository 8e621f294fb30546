import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, scrolledSideways } from '../support/browser.ts';
import { clockStage } from '../support/clockStage.ts';
import { eventually } from '../support/eventually.ts';
import { callRaw, logOfRaw, returnRaw, runIdOf, startRaw, submitRaw, waitRaw } from '../support/rawRuns.ts';
import type { Delivery } from '../support/receiver.ts';
import { service } from '../support/service.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** A run hangs only after a minute, so the stage’s clock is set forward. */
let stage: Stage;
beforeAll(async () => {
  stage = await clockStage();
});

const minuteMs = 60_000;

interface Owner {
  readonly url: string;
  readonly token: string;
}

const newOwner = async (): Promise<Owner> => ({ url: service.url, token: (await makeAccount()).token });

const open = (owner: Owner, at: string): Promise<Page> =>
  openConsole({ base: owner.url, at, token: owner.token });

const endpoint = (act: (delivery: Delivery, before: number) => Promise<unknown>) =>
  receiver.inbox((delivery, response, before) => {
    void act(delivery, before).then(
      () => response.writeHead(200).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });

/** Expects an accessible page in wide, medium and narrow windows. */
async function fits(page: Page): Promise<void> {
  for (const width of [1_440, 800, 400]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await barriersOf(page), await isTooWide(page), await scrolledSideways(page)]).toEqual([
      width,
      [],
      false,
      [],
    ]);
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
}

describe('A hanging run', () => {
  it('is in the verdict and on its page, with the last request, and is resumed from there', async () => {
    const owner: Owner = stage;
    let isMended = false;
    const inbox = endpoint(async (delivery, before) => {
      const run = { runId: runIdOf(delivery), url: inbox.url };
      if (before === 0) await ok(submitRaw(owner, run, [{ stepId: 1, stepName: 'reserve' }]));
      if (isMended) await ok(returnRaw(owner, run));
    });
    const run = await startRaw(owner, inbox);
    await eventually(
      () => logOfRaw(owner, run),
      ({ requests = [] }) => requests.length === 2,
    );
    await stage.advance(minuteMs);
    const page = await open(owner, '#/overview');
    const verdict = page.getByRole('region', { name: '1 thing needs attention' });
    const line = verdict.getByRole('link', {
      name: /hangs\. Nothing has been pending since \d\d:\d\d; the endpoint answered 200 and submitted nothing\./,
    });
    await line.waitFor();
    await page
      .getByRole('navigation', { name: 'Screens' })
      .getByRole('link', { name: /^Workflow runs\s*, 1 needs attention$/ })
      .waitFor();
    await fits(page);
    await line.click();
    await page.getByRole('heading', { name: run.runId, level: 1 }).waitFor();
    const why = page.getByRole('region', { name: 'The run hangs' });
    await why.getByText(/Nothing has been pending since/).waitFor();
    await why.getByRole('link', { name: /^msg_/ }).waitFor();
    await page.getByRole('main').getByText('hanging', { exact: true }).waitFor();
    const requests = page.getByRole('table', { name: 'Requests to the endpoint' }).getByRole('row');
    await requests.nth(2).waitFor();
    expect(await requests.nth(1).innerText()).toMatch(/200[^]*reserve/);
    expect(await requests.nth(2).innerText()).toMatch(/200[^]*nothing/);
    await fits(page);
    await page.getByRole('button', { name: 'Restart' }).waitFor();
    isMended = true;
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('This one is then cancelled.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The run is resumed. This is the new one.').waitFor();
    await page.getByRole('main').getByText('succeeded', { exact: true }).first().waitFor();
    // The kept step took no time in this run.
    const kept = page.locator('.step').filter({ hasText: 'reserve' });
    expect(await kept.innerText()).toMatch(/–[^]*kept[^]*kept from wfr_/);
    await fits(page);
    await kept.getByRole('link', { name: run.runId }).click();
    await page.getByRole('main').getByText('cancelled', { exact: true }).first().waitFor();
    await page.goto(`${owner.url}/console#/overview`);
    await page.getByRole('heading', { name: 'All is well' }).waitFor();
  });
});

describe('A failing host', () => {
  it('is in the verdict without a circuit, and has a page: since when, what waits, and what to send again', async () => {
    const owner = await newOwner();
    let status = 200;
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(status).end());
    const { host } = new URL(inbox.url);
    const publish = (headers: Record<string, string>) =>
      ok(api('POST', `/v2/publish/${inbox.url}`, { ...owner, headers, body: 'x' }));
    await publish({});
    await inbox.received(1);
    status = 503;
    for (let sent = 0; sent < 5; sent += 1) await publish({ 'Svc-Retries': '0', 'Svc-Label': 'customer-7' });
    await publish({ 'Svc-Retries': '5', 'Svc-Retry-Delay': '7200000' });
    await inbox.received(7);
    const looked = z.object({
      failingHosts: z.array(z.object({ failures: z.number() })),
      deadLetters: z.number(),
    });
    await eventually(
      async () => looked.parse(await ok(api('GET', '/v2/stats/attention', owner))),
      ({ failingHosts, deadLetters }) => failingHosts[0]?.failures === 6 && deadLetters === 5,
    );
    const page = await open(owner, '#/overview');
    const verdict = page.getByRole('region', { name: '2 things need attention' });
    const line = verdict.getByRole('link', {
      name: new RegExp(
        String.raw`^${host} has been failing since \d\d:\d\d: 6 of 7 attempts failed, last success \d\d:\d\d$`,
      ),
    });
    await line.waitFor();
    await fits(page);
    await line.click();
    await page.getByRole('heading', { name: host, level: 1 }).waitFor();
    await page
      .getByText(/^Failing since \d\d:\d\d: the last 6 attempts failed, the most recent with 503\./)
      .waitFor();
    await page.getByRole('img', { name: 'Succeeded and failed: 1 succeeded, 6 failed' }).waitFor();
    await page.getByText('1 message has not ended').waitFor();
    await page.getByRole('link', { name: '5 × answered 503' }).waitFor();
    await fits(page);
    await page.getByRole('button', { name: '1 hour' }).click();
    await page.getByRole('img', { name: 'Succeeded and failed: 1 succeeded, 6 failed' }).waitFor();
    status = 200;
    await page.getByRole('button', { name: /^Retry all 5 since \d\d:\d\d…$/ }).click();
    await page.getByText(`Filter: host ${host}, since`).waitFor();
    await page.getByRole('button', { name: 'Retry 5 dead letters' }).click();
    await page.getByText('5 dead letters sent again.').waitFor();
    await inbox.received(12);
    await page.goto(`${owner.url}/console#/overview`);
    // The latest outcome was a success.
    await page.getByRole('heading', { name: 'All is well' }).waitFor();
    await page
      .getByRole('table', { name: 'Attempts, failures and answer times by host' })
      .getByRole('link', { name: host })
      .click();
    await page.getByRole('heading', { name: host, level: 1 }).waitFor();
  });
});

describe('A list of failures', () => {
  it('is grouped by reason, by label and by URL, each with a link to its list', async () => {
    const owner = await newOwner();
    const failing = receiver.inbox((delivery, response) => {
      response.writeHead(500).end(JSON.stringify({ error: 'Error', message: delivery.body.toString() }));
    });
    const send = (body: string, label: string) =>
      ok(
        api('POST', `/v2/publish/${failing.url}`, {
          ...owner,
          headers: { 'Svc-Label': label, 'Svc-Retries': '0', 'content-type': 'text/plain' },
          body,
        }),
      );
    for (const order of [4711, 4712, 4713]) await send(`order ${order} is not known`, 'customer-7');
    await send('the database is away', 'customer-8');
    const runs = receiver.inbox((_delivery, response) => {
      response.writeHead(500).end('{"error":"TypeError","message":"tax of 7 % is not a number"}');
    });
    const other = receiver.inbox((_delivery, response) => response.writeHead(502).end());
    const retries = { 'upstash-retries': '0', 'upstash-label': 'customer-7' };
    for (const inbox of [runs, runs, other]) await startRaw(owner, inbox, retries);
    const counted = z.object({ count: z.number() });
    for (const [path, number] of [
      ['/v2/dlq/count', 4],
      ['/v2/workflows/dlq/count', 3],
    ] as const) {
      await eventually(
        async () => counted.parse(await ok(api('GET', path, owner))).count,
        (count) => count === number,
      );
    }
    const page = await open(owner, '#/dead-letters');
    const groups = (what: string) => page.getByRole('table', { name: what }).getByRole('row');
    await page.getByRole('region', { name: '4 by reason' }).waitFor();
    const reason = groups('Dead letters by reason').filter({ hasText: 'order … is not known' });
    expect((await reason.innerText()).split(/\s*\t\s*/)[1]).toBe('3');
    await fits(page);
    await page.getByRole('button', { name: 'Group by label' }).click();
    expect(await groups('Dead letters by label').nth(1).innerText()).toMatch(/customer-7\s+3/);
    await page.getByRole('button', { name: 'Group by URL' }).click();
    await page.getByRole('region', { name: '4 by URL' }).waitFor();
    await page.getByRole('button', { name: 'Group by reason' }).click();
    await reason.getByRole('link').click();
    await page.getByRole('button', { name: 'Retry the 3 matches…' }).click();
    await page.getByText('Filter: reason').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${owner.url}/console#/runs?list=failed`);
    await page.getByRole('region', { name: '3 by reason' }).waitFor();
    await fits(page);
    await groups('Failed runs by reason')
      .getByRole('link', { name: 'TypeError: tax of … % is not a number' })
      .click();
    await page.getByRole('button', { name: 'Resume the 2 matches…' }).waitFor();
    await page
      .getByRole('table', { name: 'Failed runs, the newest first' })
      .getByRole('row')
      .nth(2)
      .waitFor();
  });
});

describe('The history of a run', () => {
  it('shows in each row what is awaited until when, and does not show a call answered with 500 in green', async () => {
    const owner = await newOwner();
    const third = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const long = 'ask the tax office of the country of the customer for the rate';
    const inbox = endpoint(async (delivery, before) => {
      const run = { runId: runIdOf(delivery), url: inbox.url };
      if (before === 0) {
        await ok(callRaw(owner, run, third.url, { stepId: 1, stepName: long }, { 'Upstash-Retries': '0' }));
      }
      if (before === 1) {
        const out = JSON.stringify({ status: 500, body: 'no', header: {} });
        await ok(submitRaw(owner, run, [{ stepId: 1, stepName: long, stepType: 'Call', out }]));
      }
      if (before === 2) await ok(waitRaw(owner, run, 'order-4711-paid', { stepId: 2, stepName: 'payment' }));
    });
    const run = await startRaw(owner, inbox);
    await eventually(
      () => logOfRaw(owner, run),
      ({ requests = [] }) => requests.length === 3,
    );
    const page = await open(owner, `#/runs/${run.runId}`);
    const row = (name: string) => page.locator('.step').filter({ hasText: name });
    await row('payment').waitFor();
    expect(await row('payment').innerText()).toMatch(
      /awaits the event order-4711-paid, until \d\d:\d\d \(in (59 min|1 h)\)/,
    );
    const call = row(long);
    const state = call.locator('.state');
    expect([await state.innerText(), await state.getAttribute('class')]).toEqual([
      'answered 500',
      'state bad',
    ]);
    expect(await call.locator('rect').first().getAttribute('class')).toBe('bad');
    const isCut = await page.evaluate<boolean>(
      "[...document.querySelectorAll('.step a.cut')].some((link) => link.scrollWidth > link.clientWidth)",
    );
    expect(isCut).toBe(false);
    const requests = page.getByRole('table', { name: 'Requests to the endpoint' }).getByRole('row');
    expect((await requests.allInnerTexts()).slice(1).map((text) => text.split(/\s*\t\s*/).at(-1))).toEqual([
      long,
      long,
      'payment',
    ]);
    await fits(page);
  });
});
