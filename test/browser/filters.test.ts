import { describe, expect, it } from 'vitest';
import { openConsole } from '../support/browser.ts';

type Page = Awaited<ReturnType<typeof openConsole>>;

/** Opens the list of messages; what it asks for is answered once the test lets it go. */
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

/** Types into the field of a label as soon as it is there, before the page has drawn it. */
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
  it('stays when it comes before the page has drawn the field', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(typeAtOnce('Label', 'early'));
    await page.waitForURL('**/console#/messages?label=early');
    expect(await valueOf(page, 'Label')).toBe('early');
    letGo();
    await page.getByText('No message matches these filters.').waitFor();
    expect(await valueOf(page, 'Label')).toBe('early');
  });

  it('stays when another filter is typed right behind it', async () => {
    const { page, letGo } = await openHeldList();
    await page.evaluate(`location.hash = '#/messages'`);
    await page.getByLabel('Label', { exact: true }).waitFor();
    // Both within the pause after which the list is asked for.
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

  it('keeps what is typed at the moment in which the list is asked for, and a space at its end', async () => {
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

  it('gives way to what the address says then', async () => {
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

it('A list that has found nothing in several pages counts no entries', async () => {
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
