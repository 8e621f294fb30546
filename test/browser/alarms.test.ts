import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const set = (token: string, body: unknown): Promise<unknown> => ok(api('PUT', '/v2/alarms', { token, body }));

it('Alarms are set, tested and removed, and a mistake is shown under its field', async () => {
  const { token } = await makeAccount();
  const inbox = receiver.inbox();
  const page = await openConsole({ at: '#/alarms', token, refusals: [400] });
  await page.getByLabel('Format').selectOption('pagerduty');
  await page.getByLabel('Integration key').fill('short');
  await page.getByRole('button', { name: 'Save' }).click();
  await wrongUnder(page, 'Integration key').waitFor();
  expect(await page.getByLabel('URL').inputValue()).toBe('https://events.pagerduty.com/v2/enqueue');

  await page.getByLabel('Format').selectOption('json');
  await page.getByLabel('URL').fill('orders');
  await page.getByLabel('More than').fill('2000');
  await page.getByLabel('Send no notifications during part of the day').check();
  await page.getByLabel('Time zone').fill('Mars');
  for (const [label, sentence, mended] of [
    ['More than', /More than: Invalid input; allowed is a whole number from 0 to 1000/, '5'],
    ['URL', /URL is "orders"/, inbox.url],
    ['Time zone', /Time zone is "Mars"/, 'Europe/Berlin'],
  ] as const) {
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, label).filter({ hasText: sentence }).waitFor();
    await page.getByLabel(label, { exact: true }).fill(mended);
  }
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Nothing is open.').waitFor();
  expect(await ok(api('GET', '/v2/alarms', { token }))).toEqual({
    settings: {
      url: inbox.url,
      format: 'json',
      deadLetters: { above: 5, minutes: 15 },
      hosts: true,
      schedules: true,
      runs: true,
      limits: 80,
      quietHours: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    },
    open: [],
  });

  await page.getByRole('button', { name: 'Send a test' }).click();
  await inbox.received(1);
  await page.getByRole('link', { name: 'See the outcome of the test' }).click();
  await page.getByRole('heading', { name: /msg_/ }).waitFor();
  await page.goBack();

  await page.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('The alarms have been removed.').waitFor();
  expect(await ok(api('GET', '/v2/alarms', { token }))).toEqual({ open: [] });
});

it('Alarms that are saved again keep settings that the form does not show, and change the others', async () => {
  const { token } = await makeAccount();
  const inbox = receiver.inbox();
  const url = inbox.url.replace('//', '//me:secret@');
  await set(token, { url, format: 'slack', runs: true, headers: { 'X-Team': 'a' } });
  const page = await openConsole({ at: '#/alarms', token });
  await page.getByLabel('A schedule that fails').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The alarms have been saved.').waitFor();
  expect(await ok(api('GET', '/v2/alarms', { token }))).toEqual({
    settings: {
      url: inbox.url,
      format: 'slack',
      headers: { 'X-Team': ['a'] },
      hosts: false,
      schedules: true,
      runs: true,
    },
    open: [],
  });
  await page.getByRole('button', { name: 'Send a test' }).click();
  const [delivery] = await inbox.received(1);
  expect(delivery?.headers['authorization']).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
});

it('An open alarm leads to its cause, and a read-only token sees the alarms in a narrow window', async () => {
  const account = await makeAccount();
  await set(account.token, {
    url: 'https://example.com/alarms',
    format: 'slack',
    deadLetters: { above: 3, minutes: 30 },
    limits: 80,
    quietHours: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
  });
  const page = await openConsole({
    at: '#/alarms',
    token: account.read_only_token,
    viewport: { width: 400, height: 800 },
  });
  const now = Date.now();
  await page.route('**/v2/alarms', async (route) => {
    const response = await route.fetch();
    const json = z.looseObject({}).parse(await response.json());
    const texts = { title: 'The host api.example.com fails', detail: 'Its last 12 attempts have failed.' };
    const open = [
      { kind: 'hosts', subject: 'api.example.com', ...texts, openedAt: now, isTold: true },
      { kind: 'hosts', subject: '*', ...texts, title: 'More hosts', openedAt: now, isTold: false },
    ];
    await route.fulfill({ json: { ...json, open } });
  });
  await page.reload();
  await page.getByText('more than 3 dead letters in 30 minutes, limits used by 80 %').waitFor();
  await page.getByText('after the quiet hours').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0);
  expect(await barriersOf(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
  await page.getByRole('link', { name: 'The host api.example.com fails' }).click();
  await page.getByRole('heading', { name: 'api.example.com' }).waitFor();
});
