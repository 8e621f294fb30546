import { describe, expect, it } from 'vitest';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { putQueue } from '../support/lanes.ts';
import { messageIdOf, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

describe('The frame', () => {
  it('names the product, the account, its region and the deployment, and so does the title', async () => {
    const customer = `${unique('team')}@example.com`;
    const { token } = await makeAccount({ customer_id: customer });
    const page = await openConsole({ at: '#/schedules', token });
    const top = page.getByRole('banner');
    await top.getByText(customer).waitFor();
    expect(await top.textContent()).toContain(`svc-queue${customer}${service.region}`);
    expect(await page.title()).toMatch(
      new RegExp(`^Schedules · ${customer} · ${service.region} · \\S+ · svc-queue$`),
    );
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/icon-.*\.svg$/);
  });

  it('shows the page’s age, and if the service is unreachable, lists say so and times stop', async () => {
    const { token } = await makeAccount();
    const inbox = receiver.inbox();
    await publishAs({ token }, inbox.url);
    const page = await openConsole({ at: '#/messages', token, isCutOff: true });
    const top = page.getByRole('banner');
    await top.getByText(/Updated (now|\d+ s ago)/).waitFor();
    const time = page.getByRole('row').nth(1).locator('time').first();
    await time.waitFor();
    let isAway = true;
    await page.route('**/v2/**', (route) => (isAway ? route.abort() : route.continue()));
    await top.getByText('The service cannot be reached').waitFor();
    await page.getByRole('main').getByRole('alert').getByText('The service cannot be reached').waitFor();
    const before = await time.textContent();
    // The age at the top of the page still grows.
    const age = top.getByText(/from \d+ \w+ ago/);
    const first = await age.textContent();
    await eventually(
      () => age.textContent(),
      (shown) => shown !== first,
    );
    expect(await time.textContent()).toBe(before);
    expect(await barriersOf(page)).toEqual([]);
    // A page that is not live loads only on demand.
    const live = page.getByRole('button', { name: 'Live' });
    await live.click();
    isAway = false;
    const again = page.getByRole('button', { name: 'Try again' });
    await again.click();
    await again.waitFor({ state: 'detached' });
    await live.click();
    await top.getByText(/Updated (now|\d+ s ago)/).waitFor();
    expect(await page.getByRole('main').getByRole('alert').count()).toBe(0);
  });

  it('shows an outage once above the screen and once on it, and fits into a window of 400 pixels', async () => {
    const { token } = await makeAccount();
    await putQueue('mail', {}, { token });
    const viewport = { width: 400, height: 800 };
    const page = await openConsole({ at: '#/queues', token, isCutOff: true, viewport });
    await page.getByRole('link', { name: 'mail' }).waitFor();
    await page.getByText('of 100').waitFor();
    await page.route('**/v2/**', (route) => route.abort());
    await page.getByRole('banner').getByText('The service cannot be reached').waitFor();
    const onScreen = page.getByRole('main').getByRole('alert');
    await onScreen.waitFor();
    // Both parts of the screen have failed to load by then.
    await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/globalParallelism'));
    await page.waitForEvent('requestfailed', (request) => request.url().includes('/v2/queues'));
    expect(await page.getByRole('main').getByText('cannot be reached').count()).toBe(1);
    const live = await page.getByRole('button', { name: 'Live' }).boundingBox();
    expect((live?.x ?? 0) + (live?.width ?? 0)).toBeLessThanOrEqual(400);
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  });

  it('names the screen if the service is unreachable from the start', async () => {
    const page = await openConsole({ at: '#/keys', isCutOff: true });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.route('**/v2/**', (route) => route.abort());
    await page.reload();
    await page.getByRole('main').getByRole('alert').waitFor();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('stops loading news, and starts again', async () => {
    const { token } = await makeAccount();
    const inbox = receiver.inbox();
    await publishAs({ token }, `${inbox.url}/first`);
    const page = await openConsole({ at: '#/messages', token });
    await page.getByRole('link', { name: '/first' }).waitFor();
    const switched = page.getByRole('button', { name: 'Live' });
    await switched.click();
    expect(await switched.getAttribute('aria-pressed')).toBe('false');
    const time = page.getByRole('row').nth(1).locator('time').first();
    const before = await time.textContent();
    await publishAs({ token }, `${inbox.url}/second`);
    await page.getByText(/Updated ([5-9]|\d\d) s ago/).waitFor();
    expect(await page.getByRole('link', { name: '/second' }).count()).toBe(0);
    expect(await time.textContent()).toBe(before);
    await switched.click();
    await page.getByRole('link', { name: '/second' }).waitFor();
  });

  it('fits into a window of 400 pixels, with the current entry in view', async () => {
    const { token } = await makeAccount({ customer_id: `${'long.'.repeat(20)}@example.com` });
    const page = await openConsole({ at: '#/keys', token, viewport: { width: 400, height: 800 } });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    const entry = await page.locator('.navigation [aria-current]').boundingBox();
    expect(entry && entry.x >= 0 && entry.x + entry.width <= 400).toBe(true);
    for (const button of await page.getByRole('banner').getByRole('button').all()) {
      const box = await button.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 400 && box.y < 80).toBe(true);
    }
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    // Two figures are in each row.
    await publishAs({ token }, receiver.inbox().url);
    await page.goto(`${service.url}/console#/overview`);
    const figures = page.locator('.figure');
    await figures.first().waitFor();
    const [first, second] = await Promise.all([figures.nth(0).boundingBox(), figures.nth(1).boundingBox()]);
    expect(first?.y).toBe(second?.y);
  });

  it('has a link past the navigation to the screen', async () => {
    const page = await openConsole({ at: '#/queues' });
    await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('screen');
    await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor();
  });

  it('reserves room for buttons that appear with an answer', async () => {
    const { token } = await makeAccount();
    const page = await openConsole({
      at: '#/dead-letters',
      token,
      viewport: { width: 400, height: 800 },
    });
    await page.getByText('No dead letters.').waitFor();
    const top = async (): Promise<number | undefined> => (await page.getByRole('search').boundingBox())?.y;
    const before = await top();
    const refusing = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    await publishAs({ token }, refusing.url, { headers: { 'Svc-Retries': '0' } });
    await page.getByRole('button', { name: 'Retry all' }).waitFor();
    expect(await top()).toBe(before);
  });
});

describe('Keys', () => {
  it('lead to screens, to the search, and to the list of keys', async () => {
    const page = await openConsole({ at: '#/overview' });
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
    await heading('Overview').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await heading('Flow control').waitFor();
    await page.getByLabel('Key').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('gm?');
    expect(await page.getByLabel('Key').inputValue()).toBe('gm?');
    await page.getByLabel('Key').blur();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByText('Workflow runs').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await list.getByLabel('Use shortcuts without Ctrl').uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    await heading('Flow control').waitFor();
  });
});

describe('The palette', () => {
  it('finds screens by name', async () => {
    const page = await openConsole({ at: '#/overview' });
    await page.getByRole('button', { name: 'Go to…' }).click();
    const input = page.getByRole('combobox', { name: 'A name, an id, a label or text in a body' });
    await input.fill('e');
    expect(await barriersOf(page)).toEqual([]);
    await input.fill('group');
    // Searches are listed after the screens.
    const names = (await page.getByRole('option').allInnerTexts()).map((text) => text.split('\n')[0]);
    expect([names[0], ...names.slice(-3)]).toEqual([
      'URL groups',
      'Messages labelled “group”',
      'Messages whose body contains “group”',
      'Dead letters whose body contains “group”',
    ]);
    await input.press('Enter');
    await page.getByRole('heading', { name: 'URL groups', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await input.press('ArrowDown');
    await input.press('Enter');
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('nothing is called so');
    await expect.poll(() => page.getByRole('dialog').getByRole('option').count()).toBe(3);
    expect(await barriersOf(page)).toEqual([]);
  });

  it('finds things by a part of their name while one types, with one request', async () => {
    const { token } = await makeAccount();
    const text = unique('acme');
    await ok(api('POST', '/v2/queues', { token, body: { queueName: `the-${text}` } }));
    const body = [
      {
        destination: `https://${text}.example.com/x`,
        body: 'x',
        headers: { 'Svc-Label': `東京 ${text}`, 'Svc-Delay': '1d' },
      },
    ];
    await ok(api('POST', '/v2/batch', { token, body }));
    const page = await openConsole({ at: '#/overview', token, viewport: { width: 390, height: 800 } });
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v2/search')) asked.push(request.url());
    });
    await page.keyboard.press('Control+k');
    const input = page.getByRole('combobox');
    await input.fill(text);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 names found.').waitFor();
    const options = async () =>
      (await page.getByRole('option').allInnerTexts()).map((one) => one.split('\n').join(': '));
    expect((await options()).slice(0, 3)).toEqual([
      `${text}.example.com: Host`,
      `the-${text}: Queue`,
      `東京 ${text}: Label`,
    ]);
    expect(asked).toHaveLength(1);
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await input.press('ArrowDown');
    await input.press('Enter');
    await page.getByRole('heading', { name: `the-${text}`, level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('named tok');
    await page.getByRole('option', { name: 'Named tokens Part of a screen' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  });

  it('finds pages of the documents and their headings, and so does an error, which leads to its code', async () => {
    const page = await openConsole({
      at: '#/messages/msg_0',
      viewport: { width: 320, height: 700 },
      refusals: [404],
    });
    const context = page.context();
    const opened = async (open: () => Promise<void>): Promise<typeof page> => {
      const [document] = await Promise.all([context.waitForEvent('page'), open()]);
      await document.getByRole('heading', { level: 1 }).waitFor();
      return document;
    };
    const error = await opened(() => page.getByRole('link', { name: 'About this error' }).click());
    expect(error.url()).toMatch(/\/console\/errors\.html#message_not_found$/);
    await page.keyboard.press('Control+k');
    const input = page.getByRole('combobox');
    await input.fill('cursor_inv');
    const named = await opened(() => page.getByRole('option', { name: 'Refusals: cursor_invalid' }).click());
    expect(named.url()).toMatch(/#cursor_invalid$/);
    await expect
      .poll(() =>
        named.evaluate("document.querySelector(':target').getBoundingClientRect().top < innerHeight"),
      )
      .toBe(true);
    await page.keyboard.press('Control+k');
    await input.fill('a host is down');
    await page.getByRole('option', { name: 'A host is down Document' }).waitFor();
    const guide = await opened(() => input.press('Enter'));
    for (const [width, height] of [
      [320, 700],
      [768, 1024],
      [1440, 900],
    ] as const) {
      await guide.setViewportSize({ width, height });
      expect([width, await barriersOf(guide), await isTooWide(guide)]).toEqual([width, [], false]);
    }
  });

  it('finds the object of a pasted id', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const id = messageIdOf(await publishAs(service, inbox.url, { headers: { 'Svc-Retries': '0' } }));
    const page = await openConsole({ at: '#/dead-letters' });
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.waitForURL(/dead-letters\/dlq_/);
    const [dlqId = ''] = /dlq_\w+/.exec(page.url()) ?? [];
    const go = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill(text);
      await page.getByRole('combobox').press('Enter');
    };
    await go(` "${id}" `);
    await page.getByRole('heading', { name: id, level: 1 }).waitFor();
    await go(dlqId);
    await page.waitForURL(new RegExp(`dead-letters/${dlqId}$`));
  });
});

it('A sign-in requests the account’s usage twice: to try the token, and to show it', async () => {
  const page = await openConsole({ token: null });
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/v2/stats')) asked.push(request.method());
  });
  await page.getByLabel('Token').fill(service.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('heading', { name: /attention|All is well|Nothing was/ })
    .first()
    .waitFor();
  expect(asked).toEqual(['GET', 'GET']);
});

it('The fields of a form have only valid HTML attributes', async () => {
  const page = await openConsole({ at: '#/publish' });
  await page.getByLabel('Destination').waitFor();
  expect(await page.locator('[key]').count()).toBe(0);
});
