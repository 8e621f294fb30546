import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, deadLettered, logged, ok, publishDelayed, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const rows = (page: Page) => page.getByRole('table').locator('tbody tr');

/** Ten labels of 98 characters, the most that fit with commas. */
const longLabels = (first: string): string =>
  [first.padEnd(98, 'x'), ...Array.from({ length: 9 }, (_, index) => String(index).padEnd(98, 'y'))].join(
    ',',
  );

describe('A row', () => {
  it.each([400, 800, 1_440])('with long labels and a long address stays within %i px', async (width) => {
    const label = unique('long');
    const labels = longLabels(label);
    const [first = ''] = labels.split(',');
    const url = `https://example.com/${'folder/'.repeat(60)}the-end`;
    const messageId = await publishDelayed(url, { 'Svc-Label': labels });
    const page = await openConsole({
      at: `#/messages?messageIds=${messageId}`,
      viewport: { width, height: 800 },
    });
    await rows(page).getByText('8'.padEnd(98, 'y'), { exact: true }).waitFor();
    expect(await isTooWide(page)).toBe(false);
    const frame = await page.evaluate<number>(
      '(() => { const of = document.querySelector(".table-frame"); return of.scrollWidth - of.clientWidth; })()',
    );
    expect(frame).toBe(0);
    // The host and the end of the path stay visible.
    const link = rows(page).getByRole('link', { name: `POST ${url}`, exact: true });
    const cell = await link.boundingBox();
    const end = await link.getByText('older/the-end', { exact: false }).last().boundingBox();
    expect((end?.x ?? 0) + (end?.width ?? 0)).toBeLessThanOrEqual((cell?.x ?? 0) + (cell?.width ?? 0) + 1);
    expect(await rows(page).locator('.labels').getAttribute('title')).toContain(first);
    // The same is true for a shorter address that does not fit either.
    const shorter = await publishDelayed('https://example.com/orders/4711');
    await page.goto(`${service.url}/console#/messages?messageIds=${shorter}`);
    expect(await rows(page).locator('.cut-middle > :last-child').innerText()).toMatch(/orders.4711$/);
    expect(await barriersOf(page)).toEqual([]);
  });

  it('is a low card in a window of 400 pixels', async () => {
    const { token } = await makeAccount();
    await publishAs({ token }, receiver.inbox().url, { headers: { 'Svc-Label': 'orders' } });
    const page = await openConsole({ at: '#/messages', token, viewport: { width: 400, height: 900 } });
    const row = rows(page).first();
    await row.getByText('delivered').waitFor();
    expect((await row.boundingBox())?.height).toBeLessThan(200);
  });

  it('has its id, to be copied', async () => {
    const messageId = await publishDelayed('https://example.com/it');
    const page = await openConsole({
      at: `#/messages?messageIds=${messageId}`,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: `Copy ${messageId}` }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(messageId);
  });

  it('opens in a new tab with this tab’s session, and signing out applies to both', async () => {
    const messageId = await publishDelayed('https://example.com/it');
    const page = await openConsole({ at: `#/messages?messageIds=${messageId}` });
    await rows(page).first().waitFor();
    const opened = async (at: string): Promise<Page> => {
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        // Like a middle click: the new tab gets nothing from this tab’s storage.
        page.evaluate(
          `void window.open(${JSON.stringify(`${service.url}/console${at}`)}, '_blank', 'noopener')`,
        ),
      ]);
      return tab;
    };
    const other = await opened(`#/messages/${messageId}`);
    await other.getByRole('heading', { name: messageId, level: 1 }).waitFor();
    // Signing out applies to all tabs, and lasts.
    await other.getByRole('button', { name: 'Sign out' }).click();
    for (const one of [page, other]) await one.getByLabel('Token').waitFor();
    await page.getByLabel('Token').fill(service.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await rows(page).first().waitFor();
    await other.reload();
    await other.getByLabel('Token').waitFor();
    await page.goto('about:blank');
    const last = await opened('');
    await last.getByLabel('Token').waitFor();
  });
});

describe('The filters', () => {
  it('offer periods, keep them in the address, and show a whole time', async () => {
    const page = await openConsole({ at: '#/messages' });
    await page.getByRole('button', { name: 'The last 24 h' }).click();
    await page.waitForURL(/fromDate=\d+$/);
    const [, from = ''] = /fromDate=(\d+)/.exec(page.url()) ?? [];
    expect(Math.abs(Date.now() - 24 * 3_600_000 - Number(from))).toBeLessThan(limitForHangsMs);
    const field = page.getByLabel('From', { exact: true });
    await field.waitFor();
    const isClipped = await page.evaluate<boolean>(
      '(() => { const of = document.querySelector("[type=datetime-local]"); return of.scrollWidth > of.clientWidth; })()',
    );
    expect(isClipped).toBe(false);
    expect(await barriersOf(page)).toEqual([]);
  });

  it('exclude callbacks and messages of runs', async () => {
    const told = receiver.inbox();
    const label = unique('kind');
    const headers = { 'Svc-Label': label, 'Svc-Callback': told.url, 'Svc-Callback-Label': label };
    const messageId = messageIdOf(await publish(receiver.inbox().url, { headers }));
    await told.received(1);
    const page = await openConsole({ at: `#/messages?label=${label}` });
    await rows(page).nth(1).waitFor();
    await page.getByLabel('Kind').selectOption('Without runs and callbacks');
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(1);
    await rows(page).locator(`a[href="#/messages/${messageId}"]`).waitFor();
    await page.getByLabel('Kind').selectOption('Callbacks');
    await rows(page).locator(`a[href="#/messages/${messageId}"]`).waitFor({ state: 'detached' });
    await rows(page).getByRole('link').first().click();
    await page.getByText('Callback of').waitFor();
    await page.getByRole('link', { name: messageId }).waitFor();
  });

  it('suggest existing values, and say that they match exactly', async () => {
    const { token } = await makeAccount();
    const headers = { 'Svc-Label': 'orders, mail', 'Svc-Delay': '1h' };
    await publishAs({ token }, 'https://one.example.com/a/b', { headers });
    const page = await openConsole({ at: '#/messages', token });
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    const suggested = async (label: string) => {
      const id = await page.getByLabel(label, { exact: true }).getAttribute('list');
      const options = await page.locator(`datalist[id="${id}"] option`).all();
      return Promise.all(options.map((option) => option.getAttribute('value')));
    };
    expect(await suggested('Label')).toEqual(['orders', 'mail']);
    expect(await suggested('Host')).toEqual(['one.example.com']);
    expect(await suggested('Path')).toEqual(['/a/b']);
    expect(await page.getByLabel('Host').getAttribute('placeholder')).toBe('exactly');
    // The browser shows suggestions as wide as their field.
    await page.setViewportSize({ width: 1_440, height: 900 });
    const host = page.getByLabel('Host', { exact: true });
    await host.fill('hooks.of-a-customer.example.com');
    const field = `document.getElementById('${await host.getAttribute('id')}')`;
    expect(await page.evaluate<number>(`${field}.scrollWidth - ${field}.clientWidth`)).toBe(0);
    await page.getByLabel('Host').fill('example.com');
    await page.getByText('Label, host, path and URL match exactly.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });
});

describe('A search in bodies', () => {
  it('finds messages within the other filters, and says how far it has searched', async () => {
    const label = unique('search');
    const headers = { 'Svc-Label': label };
    const found = messageIdOf(await publish(receiver.inbox().url, { body: '{"order":4711}', headers }));
    messageIdOf(await publish(receiver.inbox().url, { body: '{"order":4712}', headers }));
    messageIdOf(
      await publish(receiver.inbox().url, {
        body: '{"order":4711}',
        headers: { ...headers, 'Svc-Redact-Fields': 'body' },
      }),
    );
    await logged({ label, state: 'DELIVERED' }, 3);
    const page = await openConsole({ at: `#/messages?label=${label}` });
    await page.getByLabel('Body contains').fill('"order":4711');
    await page.getByText('1 found in the 3 newest bodies within the other filters.').waitFor();
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(1);
    await rows(page).locator(`a[href="#/messages/${found}"]`).waitFor();
    await rows(page).getByText('delivered').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel all waiting' }).count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Body contains').fill('nowhere');
    await page.getByText('0 found in the 3 newest bodies').waitFor();
    await page.getByText('No message matches these filters.').waitFor();
  });

  it('finds dead letters, which are retried one by one', async () => {
    const label = unique('search');
    const headers = { 'Svc-Label': label, 'Svc-Retries': '0' };
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (const body of ['the needle', 'hay', 'more hay']) await publish(inbox.url, { body, headers });
    await deadLettered({ label }, 3);
    const page = await openConsole({ at: `#/dead-letters?label=${label}&body=needle` });
    await page.getByText('1 found in the 3 newest bodies').waitFor();
    expect(await rows(page).count()).toBe(1);
    expect(await page.getByRole('button', { name: /^(Retry|Delete)/ }).count()).toBe(0);
    await rows(page).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Retry 1 selected…' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });
});

it('A text that changes its direction, and characters without a glyph, are shown as codes', async () => {
  const body = 'evil\u202Egnp.exe\u202C \u0007\u200B';
  const messageId = messageIdOf(
    await publish('https://example.com/it', { body, headers: { 'Svc-Delay': '1h' } }),
  );
  const page = await openConsole({ at: `#/messages/${messageId}` });
  const shown = page.getByRole('region', { name: 'the body of the request' });
  await shown.waitFor();
  expect(await shown.locator('.unseen').allTextContents()).toEqual(['U+202E', 'U+202C', 'U+0007', 'U+200B']);
  expect(await barriersOf(page)).toEqual([]);
});

describe('A notice about an action', () => {
  it('can be dismissed, and disappears with its screen', async () => {
    const queue = unique('queue');
    await ok(api('POST', '/v2/queues', { body: { queueName: queue } }));
    const page = await openConsole({ at: `#/queues/${queue}` });
    const toast = page.locator('.toast');
    await page.getByRole('button', { name: /^Pause/ }).click();
    await toast.waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await toast.getByRole('button', { name: 'Dismiss' }).click();
    expect(await toast.count()).toBe(0);
    await page.getByRole('button', { name: /^Resume/ }).click();
    await toast.waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await toast.count()).toBe(0);
  });
});

describe('The link back to a list', () => {
  it.each([400, 1_440])('is aligned with the title below it within %i px', async (width) => {
    const page = await openConsole({
      at: '#/queues/nothing',
      refusals: [404],
      viewport: { width, height: 900 },
    });
    await page.getByRole('alert').waitFor();
    const title = await page.getByRole('heading', { level: 1 }).boundingBox();
    const back = await page.getByRole('main').getByRole('link', { name: 'Queues' }).boundingBox();
    expect(back?.x).toBe(title?.x);
    expect((back?.y ?? 0) + (back?.height ?? 0)).toBeLessThanOrEqual(title?.y ?? 0);
  });

  it('leads to the row that was left, with the loaded pages', async () => {
    const account = await makeAccount();
    const headers = { 'Svc-Delay': '1h' };
    const batch = Array.from({ length: 100 }, () => ({ destination: 'https://example.com/', headers }));
    for (const body of [batch, batch]) await ok(api('POST', '/v2/batch', { body, token: account.token }));
    const page = await openConsole({ at: '#/messages', token: account.token });
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows.count()).toBe(200);
    const link = rows.nth(150).getByRole('link');
    const address = await link.getAttribute('href');
    await link.scrollIntoViewIfNeeded();
    const at = await page.evaluate<number>('scrollY');
    expect(at).toBeGreaterThan(1_000);
    for (const back of [
      () => page.goBack(),
      () => page.getByRole('main').getByRole('link', { name: 'Messages' }).click(),
    ]) {
      await link.click();
      await page.getByRole('heading', { name: /^msg_/, level: 1 }).waitFor();
      await back();
      await expect.poll(() => page.locator(':focus').getAttribute('href')).toBe(address);
      expect(await rows.count()).toBe(200);
      expect(await page.evaluate<number>('scrollY')).toBe(at);
    }
    // Filters are kept, too.
    await page.getByLabel('Host', { exact: true }).fill('example.com');
    await page.waitForURL('**/console#/messages?host=example.com');
    await rows.first().getByRole('link').click();
    await page.getByRole('heading', { name: /^msg_/, level: 1 }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Messages' }).click();
    await page.waitForURL('**/console#/messages?host=example.com');
    // The navigation leads to the top of the list.
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('link', { name: 'Messages' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    expect(await page.evaluate<number>('scrollY')).toBe(0);
  });
});
