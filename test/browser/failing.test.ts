import { describe, expect, it } from 'vitest';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

async function accountInOutage(hosts = 2) {
  const { token } = await makeAccount();
  const answers = ['{"error":"Error","message":"order 12345678 is not known"}', 'full'].slice(0, hosts);
  for (const [index, answer] of answers.entries()) {
    const { url } = receiver.inbox((_delivery, response) => response.writeHead(500 + index).end(answer));
    for (let sent = 0; sent < 6; sent += 1) {
      const headers = { 'Svc-Label': `customer-${sent % 3},eu`, 'Svc-Retry-Delay': '3600000' };
      await publishAs({ token }, `${url}/${index}`, { headers });
    }
  }
  const expected = hosts * 6;
  await eventually(
    () => api('GET', '/v2/messages/count?by=failure', { token }),
    ({ json }) => JSON.stringify(json).startsWith(`{"count":${expected},`),
  );
  return token;
}

describe('The list of failing messages', () => {
  it('is found from the overview, and says whose messages fail, and since when', async () => {
    const token = await accountInOutage();
    const page = await openConsole({ at: '#/overview', token });
    await page.getByRole('link', { name: 'Who is hit' }).click();
    await page.waitForURL('**/console#/dead-letters?list=failing');
    await page.getByRole('heading', { name: '12 by host and status' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Group by label' }).click();
    const groups = page.getByRole('table', { name: 'Messages by label' });
    await groups.getByRole('link', { name: 'customer-1' }).waitFor();
    expect((await groups.locator('tbody tr').first().innerText()).replaceAll(/\s+/g, ' ')).toMatch(/^eu 12 /);
    await page.getByRole('button', { name: 'Group by reason' }).click();
    await page.getByRole('link', { name: 'Error: order … is not known' }).click();
    const list = page.getByRole('table', { name: 'Failing messages' }).locator('tbody tr');
    await expect.poll(() => list.count(), { timeout: limitForHangsMs }).toBe(6);
    await page.getByRole('link', { name: 'Dead letters' }).last().click();
    await page.getByText('No dead letters.').waitFor();
  });

  it('shows its only group, for the times', async () => {
    const token = await accountInOutage(1);
    const page = await openConsole({ at: '#/dead-letters?list=failing&label=customer-0', token });
    await page.getByRole('heading', { name: '2 by label' }).waitFor();
    await page.getByLabel('Label', { exact: true }).fill('東京');
    await page.getByText('No failing message matches these filters.').waitFor();
  });

  it.each([
    [390, 'light'],
    [768, 'dark'],
    [1_280, 'light'],
  ] as const)('fits into %i px, %s', async (width, colorScheme) => {
    const token = await accountInOutage();
    const at = '#/dead-letters?list=failing';
    const page = await openConsole({ at, token, viewport: { width, height: 900 }, colorScheme });
    await page.getByRole('heading', { name: '12 by host and status' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const folder = process.env['SVC_SHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/failing-${width}.png` });
  });
});
