import { expect, it } from 'vitest';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import * as z from 'zod/mini';

const receiver = useReceiver();

const withCallbacks = z.object({ callbackIds: z.array(z.string()) });

it('A callback shows the answer and the request that it has in base64 as text', async () => {
  const account = await makeAccount();
  const answering = receiver.inbox((_delivery, response) => response.writeHead(200).end('{"city":"東京"}'));
  const told = receiver.inbox();
  const id = messageIdOf(
    await publishAs(account, answering.url, {
      body: 'an order from 大阪',
      headers: { 'Svc-Callback': told.url },
    }),
  );
  await told.received(1);
  const { callbackIds } = withCallbacks.parse(
    await ok(api('GET', `/v2/messages/${id}?state=ALL`, { token: account.token })),
  );
  const page = await openConsole({ at: `#/messages/${callbackIds[0] ?? ''}`, token: account.token });
  await page.getByText('body, decoded', { exact: true }).click();
  await page.getByRole('region', { name: 'body of the body of the request' }).getByText('東京').waitFor();
  await page.getByText('sourceBody, decoded').click();
  await page.getByText('an order from 大阪').waitFor();
  expect(await barriersOf(page)).toEqual([]);
});

it('Strings of JSON that are written from right to left are isolated from each other', async () => {
  const account = await makeAccount();
  const body = JSON.stringify({ الاسم: 'محمد', city: '東京' });
  const id = messageIdOf(
    await publishAs(account, 'https://example.com/', { body, headers: { 'Svc-Delay': '1h' } }),
  );
  const page = await openConsole({ at: `#/messages/${id}`, token: account.token });
  const shown = page.getByRole('region', { name: 'the body of the request' });
  await shown.waitFor();
  expect(await shown.locator('bdi').allTextContents()).toEqual(['"الاسم"', '"محمد"', '"city"', '"東京"']);
  expect(JSON.parse((await shown.textContent()) ?? '')).toEqual(JSON.parse(body));
});

it('A dialogue says that it counts, until it knows how many it is about', async () => {
  const account = await makeAccount();
  await ok(publishAs(account, 'https://example.com/', { headers: { 'Svc-Delay': '1h' } }));
  const page = await openConsole({ at: '#/messages', token: account.token });
  await page.getByRole('row').nth(1).waitFor();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v2/messages/count?**', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Cancel all waiting' }).click();
  const dialog = page.getByRole('dialog', { name: 'How many to cancel?' });
  await dialog.getByText('Counting…').waitFor();
  release();
  await page.getByRole('dialog', { name: 'Cancel 1 message?' }).waitFor();
  expect(await page.getByText('Counting…').count()).toBe(0);
});

it('A list that cannot be loaded does not say that it is empty', async () => {
  const account = await makeAccount();
  const page = await openConsole({ at: '#/messages', token: account.token, isCutOff: true });
  await page.getByText('No messages yet.').waitFor();
  await page.route('**/v2/**', (route) => route.abort());
  await page.getByRole('main').getByRole('alert').getByText('The service cannot be reached').waitFor();
  expect(await page.getByText('No messages yet.').count()).toBe(0);
});
