import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { groupName, makeGroup, setDefaults } from '../support/groups.ts';
import { publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const groupShape = z.object({
  endpoints: z.array(z.object({ url: z.string(), name: z.optional(z.string()) })),
  headers: z.record(z.string(), z.array(z.string())),
});
const groupOf = async (name: string) => groupShape.parse(await ok(api('GET', `/v2/topics/${name}`)));

describe('A URL group', () => {
  it('is created, and a message to it reaches its endpoint', async () => {
    const inbox = receiver.inbox();
    const name = groupName();
    const page = await openConsole({ at: '#/url-groups' });
    await page.getByRole('button', { name: 'New URL group' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('URL of its first endpoint').fill(inbox.url);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    expect(page.url()).toContain(`#/url-groups/${name}`);
    await page.getByRole('cell', { name: inbox.url, exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Publish to it' }).getAttribute('href')).toBe(
      `#/publish?destination=${name}`,
    );
    await publish(name, { body: 'hello' });
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.toString()).toBe('hello');
    // Another group cannot have the same name.
    await page.getByRole('main').getByRole('link', { name: 'URL groups' }).click();
    await page.getByRole('link', { name }).waitFor();
    await page.getByRole('button', { name: 'New URL group' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('URL of its first endpoint').fill('https://example.com/other');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Name').getByText(`There is a URL group “${name}” already.`).waitFor();
    expect((await groupOf(name)).endpoints).toEqual([{ url: inbox.url }]);
  });

  it('signs an endpoint in a separate header, shows the secret once, and rotates it', async () => {
    const name = await makeGroup([{ url: 'https://example.com/one' }]);
    const page = await openConsole({ at: `#/url-groups/${name}`, refusals: [400] });
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('URL').fill('https://example.com/acme');
    await page.getByLabel('Name').fill('acme');
    await page.getByLabel('Signature header').fill('Content-Length');
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'Signature header').getByText('which the connection sets').waitFor();
    await page.getByLabel('Signature header').fill('X-Acme-Signature');
    await page.getByLabel('Prefix').fill('sha256=');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    const shown = page.getByRole('status').filter({ hasText: 'The signing secret of acme' });
    const first = await shown.locator('code').textContent();
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(await barriersOf(page)).toEqual([]);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: 'X-Acme-Signature', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rotate the secret of acme' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    const second = await shown.locator('code').textContent();
    expect(second).toMatch(/^[\w-]{43}$/);
    expect(second).not.toBe(first);
    await page.getByText('The replaced secret expires').waitFor();
    expect(await isTooWide(page)).toBe(false);
    await page.getByRole('button', { name: 'End the overlap of acme' }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByText('The replaced secret expires').waitFor({ state: 'detached' });
  });

  it('gets, changes and loses endpoints, and ends with the last one', async () => {
    const name = await makeGroup([{ url: 'https://example.com/one' }]);
    const page = await openConsole({ at: `#/url-groups/${name}`, refusals: [400] });
    const saved = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('URL').fill('ftp://example.com/two');
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'URL').getByText('Allowed is a URL that starts with http').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('URL').fill('https://example.com/two');
    await page.getByLabel('Name').fill('second');
    await saved();
    await page.getByRole('cell', { name: 'second', exact: true }).waitFor();
    // A changed name and URL make another endpoint, which replaces this one.
    await page.getByRole('button', { name: 'Edit second' }).click();
    await page.getByLabel('URL').fill('https://example.com/three');
    await page.getByLabel('Name').fill('third');
    await saved();
    await page.getByRole('cell', { name: 'third', exact: true }).waitFor();
    // Another endpoint’s name would replace that endpoint.
    await page.getByRole('button', { name: 'Edit https://example.com/one' }).click();
    await page.getByLabel('Name').fill('third');
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'Name').getByText('There is an endpoint “third” already.').waitFor();
    await page.getByLabel('Name').fill('first');
    await saved();
    await page.getByRole('cell', { name: 'first', exact: true }).waitFor();
    expect((await groupOf(name)).endpoints).toEqual([
      { url: 'https://example.com/one', name: 'first' },
      { url: 'https://example.com/three', name: 'third' },
    ]);
    await page.getByRole('button', { name: 'Remove first' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('cell', { name: 'first', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove third' }).click();
    await page.getByText('It is the last one: the group is removed with it.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'URL groups', level: 1 }).waitFor();
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
  });

  it('keeps default headers, one on each line', async () => {
    const name = await makeGroup([{ url: 'https://example.com/one' }]);
    await setDefaults(name, { 'Svc-Retries': '2' });
    const page = await openConsole({ at: `#/url-groups/${name}`, refusals: [400] });
    await page.getByRole('button', { name: 'Edit headers' }).click();
    const lines = page.getByRole('dialog').getByLabel('Headers', { exact: true });
    expect(await lines.inputValue()).toBe('Svc-Retries: 2');
    await lines.fill('nonsense');
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'Headers').getByText('“nonsense” is not a header').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await lines.fill('Svc-Retries: 1\nSvc-Forward-X-Time: 12:30\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('12:30').waitFor();
    expect((await groupOf(name)).headers).toMatchObject({
      'Svc-Retries': ['1'],
      'Svc-Forward-X-Time': ['12:30'],
    });
  });

  it('is deleted, after the number of its endpoints is shown', async () => {
    const name = await makeGroup([{ url: 'https://example.com/1' }, { url: 'https://example.com/2' }]);
    const page = await openConsole({ at: `#/url-groups/${name}` });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('It has 2 endpoints.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await groupOf(name)).endpoints).toHaveLength(2);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the group' }).click();
    await page.getByRole('heading', { name: 'URL groups', level: 1 }).waitFor();
    expect((await api('GET', `/v2/topics/${name}`)).status).toBe(404);
  });
});
