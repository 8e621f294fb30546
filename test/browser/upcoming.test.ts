import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 16);

type Page = Awaited<ReturnType<typeof openConsole>>;
const table = (page: Page) => page.getByRole('table', { name: 'Messages by the time' });
const rows = (page: Page) => table(page).locator('tbody tr');

const shows = (page: Page, number: number) =>
  expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(number);

async function accountWithAll() {
  const { token } = await makeAccount();
  const failing = receiver.inbox((_delivery, response) => response.writeHead(503).end('busy'));
  const accepting = receiver.inbox((_delivery, response) => response.writeHead(202).end());
  const send = async (url: string, headers: Readonly<Record<string, string>>) =>
    messageIdOf(await publishAs({ token }, url, { headers: { 'Svc-Label': 'eu, nightly', ...headers } }));
  const ids = {
    first: await send('https://later.example.com/a', { 'Svc-Delay': '3h', 'Svc-Label': 'only' }),
    retried: await send(failing.url, { 'Svc-Retry-Delay': '3600000' }),
    open: await send(accepting.url, { 'Svc-Deferred': '2h' }),
    debounced: await send('https://later.example.com/b', { 'Svc-Debounce': '10m', 'Svc-Debounce-Id': 'b' }),
    far: await send('https://far.example.com/', { 'Svc-Delay': '3d' }),
  };
  await ok(
    api('POST', '/v2/schedules/https://fires.example.com/', {
      token,
      headers: { 'Svc-Cron': '0 * * * *', 'Svc-Schedule-Id': 'hourly', 'Svc-Label': 'eu' },
    }),
  );
  await eventually(
    () => api('GET', '/v2/messages?order=due', { token }),
    ({ json }) => JSON.stringify(json).includes('"RETRY"') && JSON.stringify(json).includes('"ACTIVE"'),
  );
  return { token, ids, host: new URL(failing.url).host };
}

describe('The screen of upcoming messages', () => {
  it('shows what is due in the period, and moves, delivers and cancels it', async () => {
    const { token, ids } = await accountWithAll();
    const page = await openConsole({ at: '#/overview', token });
    await page.getByRole('link', { name: 'Upcoming', exact: true }).click();
    await shows(page, 4);
    const texts = await rows(page).allInnerTexts();
    for (const [index, what] of ['End of debounce', 'Retry 1', 'Deferred', 'First attempt'].entries())
      expect(texts[index]).toContain(what);
    expect(texts[1]).toMatch(/eu[\s\S]*nightly/);
    await page.getByRole('img', { name: /4 messages due until/ }).waitFor();
    await page.getByRole('link', { name: 'hourly' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Week' }).click();
    await shows(page, 5);
    await page.getByRole('button', { name: 'Hour', exact: true }).click();
    await shows(page, 1);
    await page.getByRole('button', { name: 'Day' }).click();
    await shows(page, 4);

    await page.getByRole('button', { name: `Move ${ids.first}` }).click();
    await page.getByRole('dialog').getByLabel('Due').fill(inAMonth);
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await page.getByText('1 message moved.').waitFor();
    await shows(page, 3);

    await page.getByLabel('Select all that are shown').check();
    await page.getByRole('button', { name: 'Cancel 3 messages…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the delivery' }).click();
    await page.getByText('3 messages cancelled.').waitFor();
    await page.getByText('Nothing is due in this period.').waitFor();

    await page.getByRole('button', { name: 'Week' }).click();
    const inbox = receiver.inbox();
    for (let sent = 0; sent < 2; sent += 1)
      await publishAs({ token }, inbox.url, { headers: { 'Svc-Delay': '2h' } });
    await shows(page, 3);
    await page.getByLabel('Host').fill(new URL(inbox.url).host);
    await shows(page, 2);
    await page.getByLabel('Select all that are shown').check();
    await page.getByRole('button', { name: 'Deliver 2 messages now…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deliver now' }).click();
    await inbox.received(2);
  });

  it('is two clicks from a host', async () => {
    const { token, host } = await accountWithAll();
    const page = await openConsole({ at: '#/overview', token });
    await page.getByRole('link', { name: host, exact: true }).click();
    await page.getByRole('main').getByRole('link', { name: 'Upcoming' }).click();
    await page.waitForURL(`**/console#/upcoming?host=${encodeURIComponent(host)}`);
    await shows(page, 2);
  });

  it.each([
    [390, 'light'],
    [768, 'dark'],
    [1_280, 'light'],
  ] as const)(
    'fits into %i px, %s, and has no actions for a token that may only read',
    async (width, colorScheme) => {
      const { token, ids } = await accountWithAll();
      const { token: reading } = z
        .object({ token: z.string() })
        .parse(await ok(api('POST', '/v2/tokens', { token, body: { name: 'reads', scope: 'read' } }), 201));
      const viewport = { width, height: 900 };
      const page = await openConsole({ at: '#/upcoming', token, viewport, colorScheme });
      await shows(page, 4);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const folder = process.env['SVC_SHOTS'];
      if (folder !== undefined)
        await page.screenshot({ path: `${folder}/upcoming-${width}-${colorScheme}.png`, fullPage: true });
      await page.getByRole('button', { name: `Cancel ${ids.first}` }).waitFor();
      const reads = await openConsole({ at: '#/upcoming', token: reading, viewport });
      await shows(reads, 4);
      expect(await reads.getByRole('button', { name: /Cancel|Move|Deliver/ }).count()).toBe(0);
    },
  );
});
