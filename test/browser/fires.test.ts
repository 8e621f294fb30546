import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Schedules that fire, on a stage whose clock is set forward. */

const receiver = useReceiver();
let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ testControl: true });
});
afterAll(() => stage.remove());

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

it('A schedule shows its last fires, with what became of their messages', async () => {
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
  await rows.nth(1).getByText('succeeded').waitFor();
  const time = rows.nth(0).locator('time').first();
  expect(await time.getAttribute('title')).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\n\d+ \w+ \d{4}, \d\d:\d\d:\d\d\.\d{3} (CET|CEST|GMT\+[12])$/,
  );
  expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  await rows.nth(0).getByRole('link', { name: 'msg_' }).click();
  await page.getByRole('heading', { name: /^msg_/, level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Show its messages' }).click();
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
  expect(page.url()).toMatch(/#\/messages\?scheduleId=minutely$/);
  await page.getByRole('row').nth(2).waitFor();
});

describe('Schedules', () => {
  it('are listed in words, and searched where they are many', async () => {
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
    await page.getByText('No schedule has this in its id or destination.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('have their next fires in line', async () => {
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
