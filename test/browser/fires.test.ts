import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { clockStage } from '../support/clockStage.ts';
import { eventually } from '../support/eventually.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
let stage: Stage;
beforeAll(async () => {
  stage = await clockStage();
});

const minuteMs = 60_000;
const call = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  ok(
    api(method, path, {
      url: stage.url,
      token: stage.token,
      headers,
      ...(method !== 'GET' && { body: 'x' }),
    }),
  );
const create = (id: string, to: string, cron: string): Promise<unknown> =>
  call('POST', `/v2/schedules/${to}`, { 'Svc-Schedule-Id': id, 'Svc-Cron': cron, 'Svc-Retries': '0' });
const open = (at: string, options: Parameters<typeof openConsole>[0] = {}) =>
  openConsole({ base: stage.url, token: stage.token, at, ...options });

const fired = z.object({
  fires: z.array(z.object({ states: z.optional(z.record(z.string(), z.string())) })),
});

it('A schedule shows its last fires, and the outcomes of their messages', async () => {
  let status = 200;
  const inbox = receiver.inbox((_delivery, response) => response.writeHead(status).end());
  await create('minutely', inbox.url, '* * * * *');
  await stage.advance(minuteMs);
  await inbox.received(1);
  status = 503;
  await stage.advance(minuteMs);
  await eventually(
    async () => fired.parse(await call('GET', '/v2/schedules/minutely/fires')),
    ({ fires }) => Object.values(fires[0]?.states ?? {}).includes('FAIL'),
  );
  const page = await open('#/schedules/minutely');
  const rows = page.getByRole('table', { name: 'The last fires' }).locator('tbody tr');
  await rows.nth(1).waitFor();
  await rows.nth(0).getByText('failed').waitFor();
  // Another minute may have passed since.
  await rows.last().getByText('succeeded').waitFor();
  const time = rows.nth(0).locator('time').first();
  expect(await time.getAttribute('title')).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\n\d+ \w+ \d{4}, \d\d:\d\d:\d\d\.\d{3} (CET|CEST|GMT\+[12])$/,
  );
  const last = page.getByText('Last fire', { exact: true }).locator('xpath=..');
  await last.getByRole('link', { name: 'Answer: 503' }).waitFor();
  expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  await rows.nth(0).getByRole('link', { name: 'msg_' }).click();
  await page.getByRole('heading', { name: /^msg_/, level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Show its messages' }).click();
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
  expect(page.url()).toMatch(/#\/messages\?scheduleId=minutely$/);
  await page.getByRole('row').nth(2).waitFor();

  // The list of schedules shows the failure, too, and the number of failures in a row.
  await stage.advance(minuteMs);
  await eventually(
    async () => fired.parse(await call('GET', '/v2/schedules/minutely/fires')),
    ({ fires }) => fires.slice(0, 2).every(({ states = {} }) => Object.values(states).includes('FAIL')),
  );
  await page.goto(`${stage.url}/console#/schedules`);
  const own = page.getByRole('row').filter({ hasText: 'minutely' });
  await own.getByRole('link', { name: 'Answer: 503' }).waitFor();
  await own.getByText(/[2-9] in a row/).waitFor();
  await own.getByRole('button', { name: 'Pause minutely' }).click();
  await own.getByRole('button', { name: 'Resume minutely' }).waitFor();
});

describe('Schedules', () => {
  it('are listed in words, and can be searched if there are many', async () => {
    for (let number = 0; number < 8; number += 1) {
      await create(
        `report-${number}`,
        `https://example.com/${number}`,
        `CRON_TZ=Europe/Berlin 5 ${number} * * MON-FRI`,
      );
    }
    await create('other', 'https://example.org/Special', '0 0 29 2 *');
    const page = await open('#/schedules');
    const row = page.getByRole('row').filter({ hasText: 'report-3' });
    await row.getByText('At 03:05, Monday through Friday.').waitFor();
    await row.getByText('Europe/Berlin · 5 3 * * MON-FRI').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('special');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'other' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Schedule').fill('nothing is called so');
    await page.getByText('No schedule matches these filters.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('are filtered by what is wrong with them, and sorted by their next fire', async () => {
    await create('often', 'https://example.com/', '* * * * *');
    await create('sleeps', 'https://example.com/', '0 0 29 2 *');
    await call('POST', '/v2/schedules/sleeps/pause');
    const page = await open('#/schedules');
    await page.getByRole('link', { name: 'sleeps' }).waitFor();
    await page.getByLabel('Sort by').selectOption('Next fire');
    const ids = page.getByRole('table').locator('tbody tr td:first-child a');
    await expect.poll(() => ids.first().innerText()).toBe('often');
    await page.getByLabel('Show').selectOption('Paused');
    await page.getByRole('link', { name: 'often' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'sleeps' }).waitFor();
    await page.getByLabel('Show').selectOption('Failing');
    await page.getByRole('link', { name: 'sleeps' }).waitFor({ state: 'detached' });
    expect(await barriersOf(page)).toEqual([]);
  });

  it('name the viewer’s zone by its current name', async () => {
    const page = await open('#/schedules/new', { timezoneId: 'Asia/Kolkata' });
    await page.getByText('Next fires in your time (Asia/Kolkata)').waitFor();
    expect(await page.getByLabel('Expression').inputValue()).toContain('CRON_TZ=Asia/Kolkata ');
    await page.getByText('Times in Asia/Kolkata').waitFor();
  });

  it('show their next fires in aligned columns', async () => {
    await create('lines', 'https://example.com/', 'CRON_TZ=America/New_York 0 9 * * *');
    const page = await open('#/schedules/lines', { viewport: { width: 1_200, height: 800 } });
    const away = page.locator('.fires li > :last-child');
    await away.nth(4).waitFor();
    const lefts = await Promise.all(
      (await away.all()).map(async (one) => Math.round((await one.boundingBox())?.x ?? -1)),
    );
    expect(new Set(lefts).size).toBe(1);
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  });
});
