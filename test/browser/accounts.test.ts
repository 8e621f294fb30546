import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, manage, publishAs, recordOf } from '../support/accounts.ts';
import { api, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const asOperator = { token: null, isOperator: true } as const;

const accountOf = async (id: string) => {
  const answer = await manage('GET', `/v2/svc/users/${id}`);
  return z
    .looseObject({ budget: z.number(), max_queues: z.number(), max_topics: z.number(), type: z.string() })
    .parse(recordOf(answer));
};
const statusOf = async (token: string): Promise<number> => (await api('GET', '/v2/keys', { token })).status;

const shownToken = async (page: Page, name: string): Promise<string> =>
  (await page.getByText(name, { exact: true }).locator('xpath=..').locator('code').textContent()) ?? '';

async function confirm(page: Page, button: string, yes: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: yes, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

describe('An operator', () => {
  it('creates an account, whose tokens are shown once', async () => {
    const customer = `${unique('team')}@example.com`;
    const page = await openConsole({ at: '#/accounts', ...asOperator });
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Customer').fill(customer);
    await page.getByLabel('Plan').selectOption('free');
    await page.getByLabel('Budget').fill('25');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText(`The tokens of ${customer}`).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const token = await shownToken(page, 'For all operations');
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(await shownToken(page, 'For read-only operations'))).toBe(200);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the token' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token);
    await page.getByRole('button', { name: 'I have copied them' }).click();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('link', { name: customer }).click();
    await page.getByRole('heading', { name: customer, level: 1 }).waitFor();
    await page.getByText('free', { exact: true }).waitFor();
    await page.getByRole('meter', { name: 'Cost this month' }).waitFor();
    expect(await page.content()).not.toContain(token);
  });

  it.each([
    [390, 'light'],
    [768, 'dark'],
    [1_280, 'light'],
  ] as const)('finds an account by a part of its name, at %i px, %s', async (width, colorScheme) => {
    const customer = `${unique('東京')}@example.com`;
    const { token } = await makeAccount({ customer_id: customer });
    await publishAs({ token }, 'https://later.example.com/', { headers: { 'Svc-Delay': '1h' } });
    const viewport = { width, height: 900 };
    const page = await openConsole({ at: '#/accounts', ...asOperator, viewport, colorScheme });
    await page.getByLabel('Search').fill(customer.slice(0, -7).toUpperCase());
    const row = page.getByRole('row', { name: customer });
    await row.getByText(/1 message, . failed, . waiting/).waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    const folder = process.env['SVC_SHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/accounts-${width}.png` });
    await page.getByLabel('Search').fill('nobody at all');
    await page.getByText('No account matches.').waitFor();
  });

  it('suspends an account and resumes it', async () => {
    const account = await makeAccount();
    const page = await openConsole({ at: `#/accounts/${account.id}`, ...asOperator });
    await confirm(page, 'Suspend', 'Suspend');
    await page.getByText('suspended', { exact: true }).waitFor();
    await eventually(
      () => statusOf(account.token),
      (status) => status !== 200,
    );
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await eventually(
      () => statusOf(account.token),
      (status) => status === 200,
    );
  });

  it('replaces an account’s tokens, whose old ones are then refused', async () => {
    const account = await makeAccount();
    const page = await openConsole({ at: `#/accounts/${account.id}`, ...asOperator });
    await confirm(page, 'Reset tokens', 'Reset tokens');
    await page.getByText('The tokens of test@example.com').waitFor();
    const fresh = await shownToken(page, 'For all operations');
    expect(fresh).not.toBe(account.token);
    expect(await statusOf(fresh)).toBe(200);
    expect([await statusOf(account.token), await statusOf(account.read_only_token)]).toEqual([401, 401]);
  });

  it('changes limits and budget, and restores the plan’s values', async () => {
    const { id } = await makeAccount({ max_topics: 7 });
    const page = await openConsole({ at: `#/accounts/${id}`, ...asOperator, refusals: [400] });
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('max_topics').inputValue()).toBe('7');
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByLabel('max_queues').fill('20000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'max_queues').getByText('max_queues is 20000').waitFor();
    await dialog.getByLabel('max_queues').fill('33');
    await dialog.getByLabel('max_topics').fill('');
    await dialog.getByLabel('Budget').fill('80');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: 'max_queues' }).getByText('33').waitFor();
    expect(await accountOf(id)).toMatchObject({ budget: 80, max_queues: 33, max_topics: 100, type: 'paid' });
    // The plan of an account whose limits differ from the plan can be changed.
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Plan').selectOption('free');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('free', { exact: true }).waitFor();
    expect(await accountOf(id)).toMatchObject({ budget: 80, max_queues: 33, max_topics: 1, type: 'free' });
  });

  it('sets a failure callback and tests it, and lists the functions that messages may go to', async () => {
    const told = receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 200 : 503).end(),
    );
    const { id } = await makeAccount();
    const page = await openConsole({ at: `#/accounts/${id}`, ...asOperator, refusals: [400] });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Failure callback').fill('ftp://example.com');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'Failure callback').getByText('Failure callback is').waitFor();
    const arn = 'arn:aws:lambda:*:123456789012:function:orders-*';
    await dialog.getByLabel('Failure callback').fill(told.url);
    const queue = 'arn:aws:sqs:*:123456789012:orders-*';
    await dialog.getByLabel('Destinations in AWS').fill(`${queue}\n`);
    await dialog.getByLabel('Lambda destinations').fill(`${arn}\n${arn}:live\n`);
    await dialog.getByLabel('log_retention_days').fill('30');
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`${arn}:live`, { exact: true }).waitFor();
    expect(await changeAccount(id, {})).toMatchObject({
      failure_callback: told.url,
      destinations: [queue],
      lambda_destinations: [arn, `${arn}:live`],
      log_retention_days: 30,
    });
    const test = page.getByRole('button', { name: 'Send a test' });
    await test.click();
    await page.getByText('The failure callback answered 200.').waitFor();
    await test.click();
    await page.getByText('The failure callback answered 503.').waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Failure callback').fill('');
    await dialog.getByLabel('Destinations in AWS').fill('');
    await dialog.getByLabel('Lambda destinations').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await test.waitFor({ state: 'detached' });
    expect(await changeAccount(id, {})).not.toHaveProperty('destinations');
  });

  it('gives an account TLS certificates for hosts, and removes them', async () => {
    const { id } = await makeAccount();
    const page = await openConsole({
      at: `#/accounts/${id}`,
      ...asOperator,
      refusals: [400],
      viewport: { width: 400, height: 800 },
    });
    const dialog = page.getByRole('dialog');
    const edit = async (text: string) => {
      await dialog.getByLabel('TLS identities').fill(text);
      await dialog.getByRole('button', { name: 'Save' }).click();
    };
    await page.getByRole('button', { name: 'Edit' }).click();
    await edit('hooks.example.com ca:private');
    await wrongUnder(page, 'TLS identities').getByText('TLS identities is').waitFor();
    const lines = ['hooks.example.com ca=private identity=acme', '* identity=acme'];
    await edit(`${lines.join('\n')}\n`);
    await page.getByText(lines[0] ?? '', { exact: true }).waitFor();
    expect(await changeAccount(id, {})).toMatchObject({
      tls_identities: [
        { host: 'hooks.example.com', ca: 'private', identity: 'acme' },
        { host: '*', identity: 'acme' },
      ],
    });
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('TLS identities').inputValue()).toBe(lines.join('\n'));
    await edit('');
    await page.getByText(lines[0] ?? '', { exact: true }).waitFor({ state: 'detached' });
    expect(await changeAccount(id, {})).not.toHaveProperty('tls_identities');
  });

  it('shows an account’s usage of its budget', async () => {
    const account = await makeAccount({ budget: 5, customer_id: unique('user') });
    await publishAs(account, 'https://example.com/later', { headers: { 'Svc-Delay': '1h' } });
    const page = await openConsole({ at: `#/accounts/${account.id}`, ...asOperator });
    await page.getByText('$5.00').waitFor();
    const cost = page.getByText('Cost this month').locator('xpath=..');
    // The console shows the counts shortly after.
    await eventually(
      async () => {
        await page.reload();
        return cost.innerText();
      },
      (text) => text.includes('$0.10'),
    );
  });

  it('deletes an account and restores it', async () => {
    const account = await makeAccount();
    const page = await openConsole({ at: `#/accounts/${account.id}`, ...asOperator });
    await confirm(page, 'Delete', 'Delete the account');
    await page.getByText('deleted', { exact: true }).waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Restore']);
    expect(await statusOf(account.token)).toBe(401);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    expect(await statusOf(account.token)).toBe(200);
  });

  it('shows all accounts, even many of them, and on a narrow screen, too', async () => {
    const customer = `${unique('last-of-many-with-a-long-name')}@example.com`;
    const made = await makeAccount({ customer_id: customer, id: 'ffffffff-ffff-4fff-bfff-ffffffffffff' });
    // More than a page. Suspended accounts cost nothing.
    await Promise.all(Array.from({ length: 30 }, () => makeAccount({ state: 'passive' })));
    const page = await openConsole({
      at: '#/accounts',
      ...asOperator,
      viewport: { width: 400, height: 800 },
    });
    const more = page.getByRole('button', { name: 'Load more' });
    await more.waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    const link = page.getByRole('link', { name: customer });
    while (!(await link.isVisible())) {
      await more.click();
      // The last page has no button for more.
      await link.or(page.locator('.more :enabled')).first().waitFor();
    }
    await link.click();
    await page.getByRole('heading', { name: customer, level: 1 }).waitFor();
    await page.getByRole('meter').first().waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await changeAccount(made.id, { state: 'passive' });
  });
});

it('An account’s token opens no accounts', async () => {
  const page = await openConsole({ at: '#/accounts', token: service.token });
  await page.getByRole('heading', { name: 'Sign in as the operator' }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
});
