import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

it('A host that is down is shown with the flow-control keys, and its circuit is closed by hand', async () => {
  let status = 503;
  const inbox = receiver.inbox((_delivery, response) => response.writeHead(status).end());
  const { host } = new URL(inbox.url);
  const owner = await makeAccount({ circuit: { enabled: true, failures: 2, open_seconds: 600 } });
  const headers = { 'Svc-Retries': '5', 'Svc-Retry-Delay': '1500' };
  const id = messageIdOf(await publishAs(owner, inbox.url, { headers }));
  await eventually(
    async () => z.array(z.object({ waiting: z.number() })).parse(await ok(api('GET', '/v2/circuits', owner))),
    ([circuit]) => circuit?.waiting === 1,
  );

  const reader = await openConsole({ at: '#/flow-control', token: owner.read_only_token });
  await reader.getByRole('cell', { name: host }).waitFor();
  expect(await reader.getByRole('button', { name: `Close the circuit of ${host}` }).count()).toBe(0);

  const page = await openConsole({ at: '#/flow-control', token: owner.token });
  await page.getByRole('heading', { name: 'Hosts that are down' }).waitFor();
  const row = page.getByRole('row').filter({ hasText: host });
  await row.getByText('open', { exact: true }).waitFor();
  await row.getByText('503', { exact: true }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);

  // The message's timeline says that it waits for its host.
  await page.goto(page.url().replace(/#.*$/, `#/messages/${id}`));
  await page.getByText('waits for its host').first().waitFor();
  await page.goto(page.url().replace(/#.*$/, '#/flow-control'));

  status = 200;
  await page.getByRole('button', { name: `Close the circuit of ${host}` }).click();
  await page.getByText(`The circuit of “${host}” is closed.`).waitFor();
  await inbox.received(3);
  await page.getByRole('heading', { name: 'Hosts that are down' }).waitFor({ state: 'detached' });
});
