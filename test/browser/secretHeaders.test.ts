import { expect, it } from 'vitest';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

it('Credentials in headers are masked until a token that may write asks for them, and are sent again', async () => {
  const { token, read_only_token: readOnly } = await makeAccount();
  const inbox = receiver.inbox();
  const messageId = messageIdOf(
    await api('POST', `/v2/publish/${inbox.url}`, {
      token,
      headers: { 'Svc-Forward-Authorization': 'Bearer cron-secret', 'Svc-Forward-X-Tenant': 'seven' },
    }),
  );
  await inbox.received(1);

  const page = await openConsole({ at: `#/messages/${messageId}`, token });
  const headers = page.getByLabel('Headers of the request');
  await headers.getByText('seven').waitFor();
  expect(await page.locator('body').innerText()).not.toContain('cron-secret');
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show credentials' }).click();
  await headers.getByText('Bearer cron-secret').waitFor();
  await page.getByRole('button', { name: 'Publish again…' }).click();
  await page.getByRole('button', { name: 'Publish again', exact: true }).click();
  const [, again] = await inbox.received(2);
  expect(again?.headers).toMatchObject({ authorization: 'Bearer cron-secret', 'x-tenant': 'seven' });

  const reader = await openConsole({ at: `#/messages/${messageId}`, token: readOnly });
  await reader.getByLabel('Headers of the request').getByText('seven').waitFor();
  expect(await reader.getByRole('button', { name: 'Show credentials' }).count()).toBe(0);
  expect(await reader.locator('body').innerText()).not.toContain('cron-secret');
  await ok(api('GET', `/v2/messages/${messageId}?state=ALL`, { token: readOnly }));
});
