import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, scrolledSideways } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Inbox, type Receiver } from '../support/receiver.ts';

/** A separate receiver, because a hold concerns a host. */
let receiver: Receiver;
let inbox: Inbox;
beforeEach(async () => {
  receiver = await startReceiver();
  inbox = receiver.inbox();
});
afterEach(() => receiver.close());

/** Expects an accessible page in narrow, medium and wide windows. With `SCREENSHOTS`, keeps pictures in this folder. */
async function fits(page: Page, name: string): Promise<void> {
  for (const width of [390, 768, 1_280]) {
    await page.setViewportSize({ width, height: 900 });
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
    }
    expect([width, await barriersOf(page), await isTooWide(page), await scrolledSideways(page)]).toEqual([
      width,
      [],
      false,
      [],
    ]);
  }
}

const waitingOf = async (token: string) =>
  z.array(z.object({ waiting: z.number() })).parse(await ok(api('GET', '/v2/holds', { token })));

it('Deliveries to a host are held on its page with two clicks, and released on the overview', async () => {
  const { host } = new URL(inbox.url);
  const owner = await makeAccount();
  const page = await openConsole({ at: `#/overview/hosts/${host}`, token: owner.token, refusals: [400] });
  await page.getByText('They are not held.').waitFor();
  await fits(page, 'host');
  await page.getByRole('button', { name: 'Hold deliveries to this host' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('東京 is being moved');
  await dialog.getByLabel('Ends after').fill('soon');
  await dialog.getByRole('button', { name: 'Hold them' }).click();
  await dialog.getByText('Ends after is "soon"; allowed is a whole number and a unit').waitFor();
  await dialog.getByLabel('Ends after').fill('2h');
  await fits(page, 'dialog');
  await dialog.getByRole('button', { name: 'Hold them' }).click();
  await page.getByText(/by the account’s token since .*: 東京 is being moved/).waitFor();

  await ok(publishAs(owner, inbox.url));
  await eventually(
    () => waitingOf(owner.token),
    ([hold]) => hold?.waiting === 1,
  );
  await page.getByText('1 delivery waits').waitFor();
  await fits(page, 'held');
  // The fields have the hold’s values, and a second hold replaces them.
  await page.getByRole('button', { name: 'Change the hold' }).click();
  expect(await dialog.getByLabel('Reason').inputValue()).toBe('東京 is being moved');
  await dialog.getByLabel('Reason').fill('x'.repeat(200));
  await dialog.getByRole('button', { name: 'Hold them' }).click();
  await page.getByText('x'.repeat(200)).waitFor();
  await fits(page, 'long');

  const reader = await openConsole({ at: '#/overview', token: owner.read_only_token });
  await reader.getByRole('heading', { name: 'Deliveries are held' }).waitFor();
  expect(await reader.getByRole('button', { name: /Hold|Let/ }).count()).toBe(0);
  await page.goto(page.url().replace(/#.*$/, '#/overview'));
  await page.getByRole('heading', { name: 'All else is well' }).waitFor();
  await fits(page, 'overview');
  expect(inbox.deliveries).toHaveLength(0);
  await page.getByRole('button', { name: `Let them go: The host ${host}` }).click();
  await page.getByText('The deliveries start again.').waitFor();
  await inbox.received(1);
  await page.getByRole('heading', { name: 'All is well' }).waitFor();
});

it('A label, a URL group and the account are held and released as well', async () => {
  const owner = await makeAccount();
  const { token } = owner;
  await ok(api('POST', '/v2/topics/orders/endpoints', { token, body: { endpoints: [{ url: inbox.url }] } }));
  await ok(publishAs(owner, inbox.url));
  await inbox.received(1);
  const page = await openConsole({ at: '#/url-groups/orders', token, refusals: [400] });
  await page.getByRole('button', { name: 'Hold deliveries to this group' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Hold them' }).click();
  await page
    .getByText(/by the account’s token/)
    .first()
    .waitFor();
  await fits(page, 'group');

  await page.goto(page.url().replace(/#.*$/, '#/overview'));
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const holdOne = async (what: string, which?: string) => {
    await page.getByRole('button', { name: 'Hold deliveries', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption({ label: what });
    if (which !== undefined) await dialog.getByLabel('Which').fill(which);
    if (which?.includes(',') === true) {
      await dialog.getByRole('button', { name: 'Hold them' }).click();
      await dialog
        .getByText('The label is "a,b"; allowed are 1 to 100 characters without a comma.')
        .waitFor();
      await dialog.getByLabel('Which').fill('東京 nightly');
    }
    await dialog.getByRole('button', { name: 'Hold them' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await holdOne('The label', 'a,b');
  await holdOne('The whole account');
  await page.getByRole('listitem').filter({ hasText: 'The label 東京 nightly' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'The whole account' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'The URL group orders' }).waitFor();
  await fits(page, 'all');
  for (const left of [2, 1, 0]) {
    await page
      .getByRole('button', { name: /^Let them go/ })
      .first()
      .click();
    await eventually(
      () => waitingOf(token),
      (all) => all.length === left,
    );
    await eventually(
      () => page.getByRole('button', { name: /^Let them go/ }).count(),
      (shown) => shown === left,
    );
  }
});
