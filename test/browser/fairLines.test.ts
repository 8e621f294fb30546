import { expect, it } from 'vitest';
import { api, ok, unique } from '../support/api.ts';
import { openConsole } from '../support/browser.ts';
import { enqueue, putQueue } from '../support/lanes.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

it('A queue’s page shows the waiting fair keys, and a message’s page shows its own', async () => {
  const { url } = receiver.inbox();
  const name = unique('fair');
  await putQueue(name, { paused: true });
  const headers = { 'Svc-Fair-Key': 'customer-42', 'Svc-Priority': 'low' };
  const messageId = await enqueue(name, url, { headers });
  await enqueue(name, url, { headers: { 'Svc-Fair-Key': 'another' } });
  await enqueue(name, url, { headers });

  const page = await openConsole({ at: `#/queues/${name}` });
  const card = page.locator('section', { hasText: 'Fair keys that take turns' });
  for (const row of ['customer-42 2', 'another 1']) await card.getByRole('row', { name: row }).waitFor();

  const detail = await openConsole({ at: `#/messages/${messageId}` });
  await detail.getByText('customer-42').first().waitFor();
  const form = await openConsole({ at: `#/publish?message=${messageId}` });
  await expect.poll(() => form.getByLabel('Fair key', { exact: true }).inputValue()).toBe('customer-42');
  expect(await form.getByLabel('Priority', { exact: true }).inputValue()).toBe('low');
  await ok(api('DELETE', `/v2/queues/${name}`));
});
