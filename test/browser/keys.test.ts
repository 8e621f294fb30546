import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
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

  await page.getByRole('button', { name: 'Rotate…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rotate the signing keys?' });
  await dialog.getByText('The next key becomes the current key').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(keys.parse(await ok(api('GET', '/v2/keys'))).current).toBe(service.currentSigningKey);

  await page.getByRole('button', { name: 'Rotate…' }).click();
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
