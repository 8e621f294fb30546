import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage, publishAs, recordOf } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole } from '../support/browser.ts';
import { clockStage } from '../support/clockStage.ts';
import { eventually } from '../support/eventually.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** A stage whose clock is set forward, so that a schedule fires. */
let stage: Stage;
beforeAll(async () => {
  stage = await clockStage();
});

const attention = z.object({
  hostsDown: z.array(z.object({ waiting: z.number() })),
  failingSchedules: z.array(z.object({ scheduleId: z.string() })),
  deadLetters: z.number(),
});
const minuteMs = 60_000;

it('The verdict is that all is well if it is', async () => {
  const inbox = receiver.inbox();
  const owner = await makeAccount();
  await publishAs(owner, inbox.url);
  await inbox.received(1);
  const page = await openConsole({ at: '#/', token: owner.token });
  await page.getByRole('heading', { name: 'All is well' }).waitFor();
  expect(await page.locator('.badge').count()).toBe(0);
  expect(await barriersOf(page)).toEqual([]);
});

it('The verdict covers only what was read', async () => {
  const inbox = receiver.inbox();
  const owner = await makeAccount();
  await publishAs(owner, inbox.url);
  await inbox.received(1);
  const page = await openConsole({ at: '#/keys', token: owner.token });
  let known: { readonly deadLetters?: number; readonly schedules: readonly string[] } = { schedules: [] };
  // Marks the answer as incomplete, because a test cannot wait until a read takes more than a second.
  await page.route('**/v2/stats/attention', async (route) => {
    const response = await route.fetch();
    const found = z.record(z.string(), z.unknown()).parse(await response.json());
    const { deadLetters, schedules } = known;
    const failingSchedules = schedules.map((scheduleId) => ({ scheduleId, firedAt: 0 }));
    const cut = ['deadLetters'];
    await route.fulfill({ response, json: { ...found, deadLetters, failingSchedules, isWhole: false, cut } });
  });
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Nothing was found' }).waitFor();
  await page.getByText('there may be more').waitFor();
  await page.getByText('there may be more of these: dead letters.').waitFor();
  expect(await page.getByRole('heading', { name: 'All is well' }).count()).toBe(0);
  // Unknown figures are shown as unknown: not as zero, and not by a missing badge.
  await page.getByRole('link', { name: /^Dead letters.*it is unknown what needs attention/ }).waitFor();
  expect(await page.locator('.badge').allInnerTexts()).toEqual([expect.stringMatching(/^\?/)]);
  expect(await barriersOf(page)).toEqual([]);
  known = { deadLetters: 7, schedules: ['nightly', 'weekly'] };
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('link', { name: /^Dead letters.*at least 7 need attention/ }).waitFor();
  // A complete count is shown without a plus.
  const badges = await page.locator('.badge').allInnerTexts();
  expect(badges.map((text) => text.split(/\s|,/)[0])).toEqual(['7+', '2']);
  await page.getByRole('link', { name: 'Overview' }).click();
  await page
    .getByRole('link', { name: /^At least 7 new dead letters within a day, of \d+ that are kept/ })
    .waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

it('The number of things that need attention is unknown if it cannot be read', async () => {
  const { token } = await makeAccount();
  const page = await openConsole({ at: '#/keys', token, refusals: [503] });
  await page.route('**/v2/stats/attention', (route) =>
    route.fulfill({ status: 503, json: { error: 'The service cannot answer now.', code: 'service_failed' } }),
  );
  await page.reload();
  for (const name of ['Dead letters', 'Schedules', 'Queues', 'Flow control', 'Workflow runs'])
    await page.getByRole('link', { name: new RegExp(`^${name}.*it is unknown`) }).waitFor();
  expect(await page.locator('.badge').count()).toBe(5);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

describe('The verdict names', () => {
  it('hosts that are down, paused queues and keys, failing schedules and dead letters, each with a link', async () => {
    const { url, management } = stage;
    const inbox = receiver.inbox();
    const down = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const { host } = new URL(down.url);
    const owner = recordOf(
      await manage('POST', '/v2/svc/users', {
        body: {
          customer_id: 'on-call@example.com',
          type: 'paid',
          region: 'eu-central-1',
          max_requests_per_day: 7,
          circuit: { enabled: true, failures: 2, open_seconds: 3_600 },
        },
        management,
      }),
    );
    const { token } = owner;
    const call = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
      ok(api(method, path, { url, token, headers, body }));
    const publish = (to: string, headers: Record<string, string> = {}) =>
      call('POST', `/v2/publish/${to}`, headers, 'x');
    await call('POST', '/v2/queues', {}, { queueName: 'mail', paused: true });
    for (let sent = 0; sent < 3; sent += 1) await call('POST', `/v2/enqueue/mail/${inbox.url}`, {}, 'x');
    const flow = { 'Svc-Flow-Control-Key': 'tenant/7', 'Svc-Flow-Control-Value': 'parallelism=1' };
    await publish(inbox.url, { ...flow, 'Svc-Delay': '1d' });
    await call('POST', '/v2/flowControl/tenant%2F7/pause');
    await publish(down.url, { 'Svc-Retries': '0' });
    await publish(down.url, { 'Svc-Retries': '5', 'Svc-Retry-Delay': '1000' });
    // The schedule’s group is deleted before it fires.
    const endpoints = { endpoints: [{ url: inbox.url }] };
    await call('POST', '/v2/topics/gone/endpoints', {}, endpoints);
    await call('POST', '/v2/schedules/gone', { 'Svc-Cron': '* * * * *', 'Svc-Schedule-Id': 'nightly' }, 'x');
    await call('DELETE', '/v2/topics/gone');
    await stage.advance(minuteMs);
    await eventually(
      async () => attention.parse(await call('GET', '/v2/stats/attention')),
      ({ hostsDown, failingSchedules, deadLetters }) =>
        hostsDown.some(({ waiting }) => waiting === 1) && failingSchedules.length === 1 && deadLetters === 1,
    );

    const page = await openConsole({ base: url, at: '#/overview', token });
    await page.getByRole('heading', { name: '6 things need attention' }).waitFor();
    const verdict = page.getByRole('region', { name: '6 things need attention' });
    const links = await verdict.getByRole('link').all();
    const ways = await Promise.all(
      links.map(async (link) => [await link.textContent(), await link.getAttribute('href')]),
    );
    expect(ways).toEqual([
      [`${host} is down and holds 1 message`, '#/flow-control'],
      ['The queue mail is paused and holds 3 messages', '#/queues/mail'],
      ['The flow-control key tenant/7 is paused and holds nothing', '#/flow-control/tenant%2F7'],
      [
        expect.stringMatching(/^The schedule nightly failed with its last fire: .*"gone"/),
        '#/schedules/nightly',
      ],
      ['1 new dead letter within a day', expect.stringMatching(/^#\/dead-letters\?fromDate=\d+$/)],
      ['Messages today, soft limit: 6 of 7', '#/messages'],
      ['Who is hit: messages that will be retried', '#/dead-letters?list=failing'],
    ]);
    const badges = page.getByRole('navigation', { name: 'Screens' });
    for (const [name, told] of [
      ['Dead letters', '1 needs'],
      ['Schedules', '1 needs'],
      ['Queues', '1 needs'],
      ['Flow control', '2 need'],
    ] as const) {
      await badges.getByRole('link', { name: new RegExp(`^${name}\\s*, ${told} attention$`) }).waitFor();
    }
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await page.setViewportSize({ width: 400, height: 800 });
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await verdict.getByRole('link', { name: 'dead letter' }).click();
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: host }).first().waitFor();
    // A resolved problem is no longer named.
    await call('POST', '/v2/queues/mail/resume');
    await page.goto(`${url}/console#/overview`);
    await page.reload();
    await page.getByRole('heading', { name: '5 things need attention' }).waitFor();
  });
});
