import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { messageIdOf, service } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

type Page = Awaited<ReturnType<typeof openConsole>>;

const figure = (page: Page, name: string) =>
  page.locator('.figure').filter({ hasText: name }).locator('strong');

describe('The overview of an account without messages', () => {
  it('says how to start', async () => {
    const { token } = await makeAccount();
    const page = await openConsole({ at: '#/', token });
    await page.getByText('Nothing has been sent yet.').waitFor();
    const command = await page.getByRole('region', { name: 'curl' }).textContent();
    expect(command).toContain(`curl '${service.url}/v2/publish/https://echo.invalid/orders'`);
    expect(command).not.toContain(token);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Publish a first message' }).click();
    await page.getByRole('heading', { name: 'Publish', level: 1 }).waitFor();
    await page.getByLabel('Body').fill('{"hello":"東京"}');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Attempt 1 of 6: 200').waitFor();
    await page
      .getByRole('region', { name: /the body of the answer/ })
      .filter({ hasText: '東京' })
      .waitFor();
  });

  it('says to a user with read-only rights what will be here', async () => {
    const { read_only_token: token } = await makeAccount();
    const page = await openConsole({ at: '#/overview', token });
    await page.getByText('This page shows sent messages and their outcomes.').waitFor();
    expect(await page.getByRole('link', { name: /publish/i }).count()).toBe(0);
  });
});

describe('The overview of an account', () => {
  let account: AccountRecord;
  let refusing: Inbox;
  beforeAll(async () => {
    account = await makeAccount({ max_requests_per_day: 10, max_dlq_size: 50, budget: 20 });
    const { token } = account;
    const inbox = receiver.inbox();
    refusing = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const send = (url: string, headers: Record<string, string> = {}) =>
      publishAs(account, url, { headers: { 'Svc-Retries': '0', ...headers } });
    for (const url of [inbox.url, inbox.url, refusing.url, refusing.url, 'http://127.0.0.1:1/']) {
      await send(url);
    }
    await send(inbox.url, { 'Svc-Delay': '1h' });
    const cancelled = messageIdOf(await send(inbox.url, { 'Svc-Delay': '1h' }));
    await ok(api('DELETE', `/v2/messages/${cancelled}`, { token }));
    await inbox.received(2);
    await refusing.received(2);
  });

  it('shows today’s usage of its limits, and is updated without a reload', async () => {
    const page = await openConsole({ at: '#/overview', token: account.token });
    // The latest outcomes appear with one of the next reloads.
    await figure(page, 'Failed').getByText('3', { exact: true }).waitFor();
    expect(await figure(page, 'Accepted').textContent()).toBe('7');
    expect(await figure(page, 'Delivered').textContent()).toBe('2');
    expect(await figure(page, 'Cancelled').textContent()).toBe('1');
    const meter = page.getByRole('meter', { name: 'Messages today, soft limit' });
    expect([await meter.getAttribute('aria-valuenow'), await meter.getAttribute('aria-valuemax')]).toEqual([
      '7',
      '10',
    ]);
    expect(
      await page.getByRole('meter', { name: 'Dead letters and failed runs' }).getAttribute('aria-valuemax'),
    ).toBe('50');
    expect(await page.getByText('of $20.00').count()).toBe(1);
    await page.getByRole('img', { name: 'Delivered and failed: 2 delivered, 3 failed' }).waitFor();
    const hard = page.getByRole('meter', { name: 'Messages today, hard limit' });
    expect(await hard.getAttribute('aria-valuemax')).toBe('100');
    await page.getByRole('button', { name: '1 hour' }).click();
    expect(page.url()).toMatch(/#\/overview\?over=hour$/);
    await page.getByRole('img', { name: 'Delivered and failed: 2 delivered, 3 failed' }).waitFor();
    const chart = page.locator('figure').filter({ hasText: 'Delivered and failed' });
    // Key, pointer and table show the same numbers, with the hour’s twelve steps.
    await chart.getByRole('img').focus();
    const read = async (key: string) => {
      await page.keyboard.press(key);
      return (await chart.getByRole('status').textContent()) ?? '';
    };
    const steps: string[] = [await read('Home')];
    for (let step = 1; step < 12; step += 1) steps.push(await read('ArrowRight'));
    expect(await read('ArrowRight')).toBe(steps.at(-1));
    expect(await read('ArrowLeft')).toBe(steps.at(-2));
    await chart.getByText('Table', { exact: true }).click();
    const rows = chart.getByRole('table').getByRole('row');
    expect(await rows.count()).toBe(1 + 12);
    const cells = await rows.locator('td').allTextContents();
    expect(cells.reduce((sum, cell) => sum + Number(cell), 0)).toBe(2 + 3);
    expect(steps.map((text) => text.replace(/^.*: /, '')).join(', ')).toBe(
      cells.map((cell, at) => `${cell} ${at % 2 === 0 ? 'delivered' : 'failed'}`).join(', '),
    );
    const box = await chart.getByRole('img').boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 2, (box?.y ?? 0) + 20);
    expect(await chart.getByRole('status').textContent()).toBe(steps.at(-1));
    const [words, drawing] = await Promise.all([
      page.locator('.chart-top').first().boundingBox(),
      page.locator('.chart svg').first().boundingBox(),
    ]);
    expect((words?.y ?? 0) + (words?.height ?? 0)).toBeLessThanOrEqual(drawing?.y ?? 0);
    await page.getByRole('button', { name: '30 days' }).click();
    expect(page.url()).toMatch(/#\/overview\?over=days$/);
    await page.getByRole('img', { name: 'Delivered and failed: 2 delivered, 3 failed' }).waitFor();
    await page.reload();
    const days = page.getByRole('button', { name: '30 days' });
    await days.waitFor();
    expect(await days.getAttribute('aria-pressed')).toBe('true');
  });

  it('shows answer times of hosts, and how much of the log was read', async () => {
    const page = await openConsole({ at: '#/overview', token: account.token });
    const { host } = new URL(refusing.url);
    const table = page.getByRole('table', { name: 'answer times by host' });
    const row = table.getByRole('row').filter({ hasText: host });
    await row.waitFor();
    expect(await row.textContent()).toMatch(
      new RegExp(`^${host}42 \\(50 %\\)(now|\\d+ s ago)(\\d+(\\.\\d)? m?s){3}$`),
    );
    const away = table.getByRole('row').filter({ hasText: '127.0.0.1:1' }).first();
    await away.getByText('1 (100 %)').waitFor();
    await page.getByText(/^The last 5 attempts, since/).waitFor();
    await page.getByRole('img', { name: /^Answer time: up to \d+(\.\d)? m?s/ }).waitFor();
  });

  it('shows what fails most, with a link to those dead letters', async () => {
    const page = await openConsole({ at: '#/overview', token: account.token });
    const rows = page.getByRole('table', { name: 'Dead letters by host and status' }).locator('tbody tr');
    const { host } = new URL(refusing.url);
    await rows.nth(1).waitFor();
    expect(await rows.nth(0).textContent()).toMatch(new RegExp(`^${host}5032`));
    expect(await rows.nth(1).textContent()).toMatch(/^127\.0\.0\.1:1no answer1/);
    await rows.nth(0).getByRole('link').click();
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
    expect(page.url()).toContain(`#/dead-letters?host=${encodeURIComponent(host)}&responseStatus=503`);
  });
});
