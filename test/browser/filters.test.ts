import { describe, expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';

type Page = Awaited<ReturnType<typeof openConsole>>;

/** Opens the list of messages, whose request waits until the test releases it. */
async function openHeldList(): Promise<{ readonly page: Page; readonly letGo: () => void }> {
  const page = await openConsole({ at: '#/keys' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  let letGo = (): void => undefined;
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(/\/v2\/messages\?/, async (route) => {
    await isLetGo;
    await route.continue();
  });
  return { page, letGo };
}

const valueOf = (page: Page, label: string) => page.getByLabel(label, { exact: true }).inputValue();

/** Types into a field as soon as it exists, before the page has drawn it. */
const typeAtOnce = (label: string, text: string): string => `new Promise((resolve) => {
  const type = () => {
    const of = [...document.querySelectorAll('form.filters label')].find((one) => one.textContent === ${JSON.stringify(label)});
    if (of === undefined) return;
    observer.disconnect();
    const field = document.getElementById(of.htmlFor);
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    resolve();
  };
  const observer = new MutationObserver(type);
  observer.observe(document.body, { childList: true, subtree: true });
  location.hash = '#/messages';
})`;

describe('A text that is typed into a filter while its list loads', () => {
  it('is kept if it is typed before the page has drawn the field', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(typeAtOnce('Label', 'early'));
    await page.waitForURL('**/console#/messages?label=early');
    expect(await valueOf(page, 'Label')).toBe('early');
    letGo();
    await page.getByText('No message matches these filters.').waitFor();
    expect(await valueOf(page, 'Label')).toBe('early');
  });

  it('is kept if another filter is typed right after it', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(`location.hash = '#/messages'`);
    await page.getByLabel('Label', { exact: true }).waitFor();
    // Both within the pause after which the list is requested.
    await page.evaluate(`(() => {
      for (const [label, text] of [['Label', 'first'], ['Host', 'second.example.com']]) {
        const of = [...document.querySelectorAll('form.filters label')].find((one) => one.textContent === label);
        const field = document.getElementById(of.htmlFor);
        field.value = text;
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }
    })()`);
    await page.waitForURL('**/console#/messages?label=first&host=second.example.com');
    letGo();
    await page.getByText('No message matches these filters.').waitFor();
    expect([await valueOf(page, 'Label'), await valueOf(page, 'Host')]).toEqual([
      'first',
      'second.example.com',
    ]);
  });

  it('is kept if it is typed while the list is requested, including a final space', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(`location.hash = '#/messages'`);
    const field = page.getByLabel('Label', { exact: true });
    await field.waitFor();
    await page.evaluate(`addEventListener('hashchange', () => {
      const field = document.activeElement;
      field.value = 'two words';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }, { once: true })`);
    await field.fill('two ');
    await page.waitForURL('**/console#/messages?label=two+words');
    expect(await field.inputValue()).toBe('two words');
    await field.fill('three ');
    await page.waitForURL('**/console#/messages?label=three');
    letGo();
    await page.getByText('No message matches these filters.').waitFor();
    expect(await field.inputValue()).toBe('three ');
  });

  it('is replaced by a later value of the address', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(`location.hash = '#/messages'`);
    await page.getByLabel('Label', { exact: true }).fill('typed');
    await page.waitForURL('**/console#/messages?label=typed');
    await page.evaluate(`location.hash = '#/messages?label=linked'`);
    letGo();
    await expect.poll(() => valueOf(page, 'Label')).toBe('linked');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => valueOf(page, 'Label')).toBe('');
  });
});

it('A list that has found nothing in several pages shows no number of entries', async () => {
  const page = await openConsole({ at: '#/keys' });
  await page.route(/\/v2\/messages\?/, (route) =>
    route.fulfill({
      json: { messages: [], ...(!route.request().url().includes('cursor') && { cursor: 'x' }) },
    }),
  );
  await page.getByRole('link', { name: 'Messages' }).click();
  await page.getByText('No messages yet.').waitFor();
  expect(await page.getByText(/^Entries/).count()).toBe(0);
});

describe('A list', () => {
  it('can be limited to the last night, or to a custom range', async () => {
    const page = await openConsole({ at: '#/messages' });
    await page.getByRole('button', { name: 'Range…' }).click();
    await page.getByLabel('From', { exact: true }).fill('2026-01-02T18:00');
    await page.getByLabel('Until', { exact: true }).fill('2026-01-03T08:00');
    await page.waitForURL(
      `**/console#/messages?fromDate=${Date.UTC(2026, 0, 2, 17)}&toDate=${Date.UTC(2026, 0, 3, 7)}`,
    );
    await page.getByRole('button', { name: 'Night' }).click();
    await expect.poll(() => valueOf(page, 'From')).not.toMatch(/^2026-01-02/);
    expect(await valueOf(page, 'From')).toMatch(/T18:00$/);
    expect(await valueOf(page, 'Until')).toMatch(/T08:00$/);
    expect(await barriersOf(page)).toEqual([]);
  });

  it('has filters that are named, saved and deleted', async () => {
    const page = await openConsole({ at: '#/messages?label=nightly&state=FAILED' });
    await page.getByRole('button', { name: 'Save this filter…' }).click();
    const keep = page.getByRole('button', { name: 'Save', exact: true });
    await page.getByLabel('Name').fill(' ');
    expect(await keep.isDisabled()).toBe(true);
    await page.getByLabel('Name').fill('Broken nights');
    expect(await barriersOf(page)).toEqual([]);
    await keep.click();
    await page.getByText('The filter “Broken nights” is saved in this browser.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL('**/console#/messages');
    await page.reload();
    await page.getByRole('button', { name: 'Broken nights' }).click();
    await page.waitForURL('**/console#/messages?label=nightly&state=FAILED');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'Broken nights' }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'Forget “Broken nights”' }).click();
    await page.getByRole('button', { name: 'Broken nights' }).waitFor({ state: 'detached' });
  });

  it('is saved as a file with everything that its filter matches', async () => {
    const { token } = await makeAccount();
    const headers = { 'Svc-Delay': '1h', 'Svc-Label': 'to save' };
    const batch = Array.from({ length: 60 }, () => ({ destination: 'https://example.com/', headers }));
    for (const body of [batch, batch]) await ok(api('POST', '/v2/batch', { body, token }));
    await ok(api('POST', '/v2/batch', { body: [{ ...batch[0], headers: { 'Svc-Delay': '1h' } }], token }));
    const page = await openConsole({
      at: '#/messages?label=to+save',
      token,
      viewport: { width: 400, height: 800 },
    });
    await page.getByRole('button', { name: 'Load more' }).waitFor();
    const saved = async (kind: string): Promise<string> => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Save as ${kind}` }).click(),
      ]);
      expect(file.suggestedFilename()).toMatch(new RegExp(`^messages-[\\dT-]+\\.${kind.toLowerCase()}$`));
      await page.getByText('The file has 120 rows.').last().waitFor();
      return readFile(await file.path(), 'utf8');
    };
    const lines = (await saved('CSV')).split('\r\n');
    expect(lines[0]).toMatch(/^messageId,url,/);
    expect(lines).toHaveLength(122);
    expect(JSON.parse(await saved('JSON'))).toHaveLength(120);
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  });

  it('is found from the palette, by labels and by bodies', async () => {
    const page = await openConsole({ at: '#/keys' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('order 7');
    await page.getByRole('option', { name: 'Messages whose body contains “order 7”' }).click();
    await page.waitForURL('**/console#/messages?body=order+7');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('nightly');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console#/messages?label=nightly');
  });
});

describe('On a telephone', () => {
  const viewport = { width: 390, height: 844 };

  it('filters are folded, and those that are set are shown', async () => {
    const { token } = await makeAccount();
    const page = await openConsole({ at: '#/messages?label=nightly', token, viewport });
    await page.getByText('No message matches these filters.').waitFor();
    expect(await valueOf(page, 'Label')).toBe('nightly');
    expect(await page.getByLabel('Host', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Host', { exact: true }).fill('東京.example.com');
    await page.waitForURL(/host=/);
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(await page.getByLabel('Label', { exact: true }).count()).toBe(0);
  });

  it('the list begins in the first screen, and the button of a form is in view', async () => {
    const account = await makeAccount();
    await ok(publishAs(account, 'https://hooks.example.com/orders', { headers: { 'Svc-Delay': '1h' } }));
    const page = await openConsole({ at: '#/messages', token: account.token, viewport });
    const row = page.getByRole('row').filter({ hasText: 'hooks.example.com' });
    await row.waitFor();
    const { y = Infinity, height = 0 } = (await row.boundingBox()) ?? {};
    expect(y + height).toBeLessThan(viewport.height);
    for (const [screen, name] of [
      ['publish', 'Publish'],
      ['schedules/new', 'Create'],
      ['alarms', 'Save'],
    ] as const) {
      await page.evaluate(`location.hash = '#/${screen}'`);
      const button = page.getByRole('main').getByRole('button', { name, exact: true });
      await button.waitFor();
      const box = await button.boundingBox();
      expect([screen, (box?.y ?? Infinity) + (box?.height ?? 0) <= viewport.height]).toEqual([screen, true]);
      expect(await barriersOf(page)).toEqual([]);
    }
  });
});
