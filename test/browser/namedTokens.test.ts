import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';

const asOperator = { token: null, isOperator: true } as const;
const made = z.object({ id: z.string(), token: z.string() });

const statusOf = async (token: string, path = '/v2/queues'): Promise<number> =>
  (await api('GET', path, { token })).status;

describe('An operator', () => {
  it('creates a named token, which is shown once, and revokes it', async () => {
    const { id } = await makeAccount();
    const page = await openConsole({ at: `#/accounts/${id}`, ...asOperator });
    await page.getByText('No named tokens.').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('a dashboard');
    await page.getByLabel('Permissions').selectOption('read');
    expect(await page.getByLabel('Destinations').count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('it cannot be shown again').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const shown = page.getByRole('status').filter({ hasText: 'The token a dashboard' });
    const token = (await shown.locator('code').textContent()) ?? '';
    expect(await statusOf(token)).toBe(200);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole('row', { name: 'a dashboard' });
    await row.getByText('Read only').waitFor();

    await page.reload();
    await row.getByText(new Date().toISOString().slice(0, 10)).waitFor();
    expect(await page.content()).not.toContain(token);
    await row.getByRole('button', { name: 'Revoke a dashboard' }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('No named tokens.').waitFor();
    expect(await statusOf(token)).toBe(401);
  });

  it('creates one with some destinations and an expiry, and shows errors', async () => {
    const { id } = await makeAccount();
    const page = await openConsole({
      at: `#/accounts/${id}`,
      ...asOperator,
      refusals: [400],
      viewport: { width: 400, height: 900 },
    });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('shop');
    await page.getByLabel('Destinations').fill('ftp://example.com');
    await page.getByLabel('Expires').fill('2099-12-31T12:00');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Destinations').getByText('Destinations is "ftp://example.com"').waitFor();
    await page.getByLabel('Destinations').fill('https://example.com/hooks/\norders');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('https://example.com/hooks/, orders').waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    const [token] = z
      .array(z.looseObject({ scope: z.string(), expires_at: z.int() }))
      .parse(await ok(manage('GET', `/v2/svc/users/${id}/tokens`)));
    expect(token).toMatchObject({ scope: 'publish', destinations: ['https://example.com/hooks/', 'orders'] });
    expect(new Date((token?.expires_at ?? 0) * 1_000).getFullYear()).toBe(2099);
  });
});

it('The audit trail shows who changed what, and is filtered', async () => {
  const { id, token } = await makeAccount();
  const named = made.parse(
    await ok(
      manage('POST', `/v2/svc/users/${id}/tokens`, { body: { name: 'the deployment', scope: 'full' } }),
      201,
    ),
  );
  const queueName = unique('queue');
  await ok(api('POST', '/v2/queues', { token, body: { queueName } }));
  await ok(api('POST', `/v2/queues/${queueName}/pause`, { token: named.token }));
  const scheduleId = unique('nightly');
  const headers = { 'svc-cron': '0 0 1 1 *', 'svc-schedule-id': scheduleId };
  await ok(api('POST', '/v2/schedules/https://example.com', { token, headers }));
  const page = await openConsole({ at: '#/audit', token });
  await page.getByRole('row', { name: 'queue.pause' }).getByText('the deployment').waitFor();
  const saved = page.getByRole('row', { name: 'schedule.save' }).getByRole('link', { name: scheduleId });
  expect(await saved.getAttribute('href')).toBe(`#/schedules/${scheduleId}`);
  await page.getByRole('row', { name: 'queue.save' }).getByText('The account’s token').waitFor();
  await page.getByRole('row', { name: 'account.create' }).getByText('The operator').waitFor();
  const paused = page.getByRole('row', { name: 'queue.pause' });
  await paused.getByText('paused: false → true').waitFor();
  expect(await paused.locator('del, ins').allTextContents()).toEqual(['false', 'true']);
  const fields = page.getByRole('row', { name: 'schedule.save' }).locator('details');
  expect(await fields.getByText('0 0 1 1 *').isVisible()).toBe(false);
  await fields.locator('summary').click();
  await fields.getByText('cron: 0 0 1 1 *').waitFor();
  expect(await barriersOf(page)).toEqual([]);

  await page.getByLabel('Action').selectOption('queue.pause');
  await page.getByRole('row', { name: 'queue.save' }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: 'queue.pause' }).getByText(queueName).waitFor();
  await page.getByLabel('Who').fill('operator');
  await page.getByText('No change matches these filters.').waitFor();
  await page.setViewportSize({ width: 400, height: 800 });
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row', { name: 'token.create' }).waitFor();
  expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
});

describe('An account', () => {
  it('creates a token for a colleague and revokes it, but none with full rights', async () => {
    const { id, token } = await makeAccount();
    const body = { name: 'the deployment', scope: 'full' };
    expect((await manage('POST', `/v2/svc/users/${id}/tokens`, { body })).status).toBe(201);
    const page = await openConsole({ at: '#/keys', token });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada');
    expect(await page.getByLabel('Permissions').locator('option').allTextContents()).toEqual([
      'Read only',
      'Publish only',
    ]);
    await page.getByLabel('Permissions').selectOption('read');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    // The account cannot revoke the operator’s token.
    expect(await page.getByRole('button', { name: 'Revoke the deployment' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke Ada' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('row', { name: 'Ada' }).waitFor({ state: 'detached' });
    expect(await isTooWide(page)).toBe(false);
  });
});
