import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { service } from '../support/service.ts';

const keys = z.object({ current: z.string(), next: z.string() });

it('Signing keys are shown on demand, and are rotated after a warning', async () => {
  const page = await openConsole({ at: '#/keys' });
  await page.getByText('Deliveries are signed with it.').waitFor();
  expect(await page.locator('main').textContent()).not.toContain('whsec_');
  await page.getByRole('button', { name: 'Show Current key' }).click();
  await page.getByText(service.currentSigningKey, { exact: true }).waitFor();
  expect(await page.getByText(service.nextSigningKey).count()).toBe(0);
  await page.getByRole('button', { name: 'Hide Current key' }).click();
  expect(await page.getByText(service.currentSigningKey).count()).toBe(0);
  expect(await barriersOf(page)).toEqual([]);

  await page.getByRole('button', { name: 'Rotate signing keys…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the signing keys?' });
  await dialog.getByText('The next key becomes the current key').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(keys.parse(await ok(api('GET', '/v2/keys'))).current).toBe(service.currentSigningKey);

  await page.getByRole('button', { name: 'Rotate signing keys…' }).click();
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByText('The signing keys have been rotated.').waitFor();
  await page.getByRole('button', { name: 'Show Current key' }).click();
  await page.getByText(service.nextSigningKey, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show Next key' }).click();
  const { current, next } = keys.parse(await ok(api('GET', '/v2/keys')));
  expect(current).toBe(service.nextSigningKey);
  await page.getByText(next, { exact: true }).waitFor();
});

it('Signing keys are copied without being shown', async () => {
  const page = await openConsole({ at: '#/keys', permissions: ['clipboard-read', 'clipboard-write'] });
  const { next } = keys.parse(await ok(api('GET', '/v2/keys')));
  await page.getByRole('button', { name: 'Copy Next key' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(next);
});

const statusOf = async (token: string): Promise<number> => (await api('GET', '/v2/queues', { token })).status;

it('A leaked named token is rotated with three clicks, and its changes are found', async () => {
  const { token } = await makeAccount();
  const made = z.object({ id: z.string(), token: z.string() });
  const name = unique('東京');
  const leaked = made.parse(
    await ok(api('POST', '/v2/tokens', { token, body: { name, scope: 'read' } }), 201),
  );
  const page = await openConsole({ token, viewport: { width: 390, height: 800 } });
  await page.goto(`${service.url}/console#/keys`);
  await page.getByRole('button', { name: `Rotate ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: `Rotate ${name}?` });
  expect(await barriersOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
  const shown = page.getByRole('status').filter({ hasText: `The token ${name}` });
  const fresh = (await shown.locator('code').textContent()) ?? '';
  expect([await statusOf(leaked.token), await statusOf(fresh)]).toEqual([401, 200]);
  expect(await page.getByText('its earlier secret expires').count()).toBe(0);
  await page.getByRole('button', { name: `Rotate ${name}` }).click();
  await dialog.getByLabel('The earlier secret expires').selectOption('1h');
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByText('its earlier secret expires').waitFor();
  expect(await statusOf(fresh)).toBe(200);
  expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  await page.getByRole('link', { name: `Its changes: ${name}` }).click();
  await page.getByText('No change matches these filters.').waitFor();
  expect(await page.getByLabel('Who').inputValue()).toBe(leaked.id);
});

it('The account’s own token is rotated, and the page goes on with the new one', async () => {
  const account = await makeAccount();
  const page = await openConsole({ at: '#/keys', token: account.token });
  await page.getByRole('button', { name: 'Rotate the token…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the account’s token?' });
  expect(await barriersOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
  const secret = (title: string) =>
    page.getByRole('status').filter({ hasText: title }).locator('code').textContent();
  const fresh = (await secret('The account’s token')) ?? '';
  const reading = (await secret('The read-only token')) ?? '';
  expect([await statusOf(account.token), await statusOf(account.read_only_token)]).toEqual([401, 401]);
  expect([await statusOf(fresh), await statusOf(reading)]).toEqual([200, 200]);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'Changes made with the token' }).click();
  await page.getByRole('row', { name: 'account.rotateTokens' }).getByText('The account’s token').waitFor();
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByText('Signing keys', { exact: true }).waitFor();
  expect(await page.content()).not.toContain(fresh);
});
