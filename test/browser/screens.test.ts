import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { barriersOf, openConsole, scrolledSideways } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { messageIdOf, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import * as z from 'zod/mini';

/** All screens are shown with the longest names, and with texts that change their direction. */

const receiver = useReceiver();

const queue = 'Q'.repeat(128);
const group = 'G'.repeat(128);
const endpoint = 'E'.repeat(128);
const schedule = 'S'.repeat(128);
const key = `\u202eevil \u200b<b>${'K'.repeat(100)}`;
const label = '\u202elabel\u2066'.padEnd(98, 'x');
const body = `\u202e${'unbroken'.repeat(500)}\u0000👩‍👩‍👧‍👦`;
const stack = Array.from(
  { length: 1_000 },
  (_, line) => `    at handle (/srv/app/file-${line}.js:${line}:1)`,
);

const dlq = z.object({ messages: z.array(z.object({ dlqId: z.string() })) });
const run = z.object({ workflowRunId: z.string() });
const runs = z.object({ messages: z.array(run) });

let account: AccountRecord;
let screens: readonly string[];

const dialogues: Readonly<Record<string, readonly string[]>> = {
  [`queues/${queue}`]: ['Delete', 'Change parallelism'],
  [`url-groups/${group}`]: ['Delete', `Remove ${endpoint}`, `Edit ${endpoint}`, 'Edit headers'],
  [`schedules/${schedule}`]: ['Delete…'],
  [`flow-control/${encodeURIComponent(key)}`]: ['Pin limits'],
  [`dead-letters?label=${encodeURIComponent(label)}`]: ['Retry the 1 match…', 'Delete the 1 match…'],
};

beforeAll(async () => {
  account = await makeAccount({ customer_id: `\u202e${'a-long-name-'.repeat(20)}@example.com` });
  const { token } = account;
  const call = (method: string, path: string, headers: Record<string, string> = {}, json?: unknown) =>
    ok(api(method, path, { token, headers, body: json }));
  const broken = receiver.inbox((_delivery, response) => response.writeHead(500).end(stack.join('\n')));
  const long = `${broken.url}/${'folder/'.repeat(100)}end`;
  // Headers cannot contain these characters, but the equivalent query can.
  const inQuery = new URLSearchParams({ 'svc-label': `${label},${'y'.repeat(98)}`, 'svc-retries': '0' });
  const flow = new URLSearchParams({
    'svc-flow-control-key': key,
    'svc-flow-control-value': 'rate=1, period=1d',
  });
  await call('POST', '/v2/queues', {}, { queueName: queue, parallelism: 1 });
  await call('POST', `/v2/queues/${queue}/pause`);
  await call('POST', `/v2/topics/${group}/endpoints`, {}, { endpoints: [{ url: long, name: endpoint }] });
  await call('POST', `/v2/enqueue/${queue}/${encodeURIComponent(long)}`, {}, 'it');
  await call('POST', `/v2/publish/${broken.url}?${String(flow)}`, { 'Svc-Delay': '1h' }, 'it');
  await call('POST', `/v2/flowControl/${encodeURIComponent(key)}/pause`);
  await call('POST', `/v2/schedules/${encodeURIComponent(long)}?${String(inQuery)}`, {
    'Svc-Cron': '0 0 29 2 *',
    'Svc-Schedule-Id': schedule,
  });
  const retried = { 'Svc-Retry-Delay': '3600000' };
  await publishAs(account, broken.url, { headers: retried });
  await call('POST', `/v2/trigger/${broken.url}`, { 'Upstash-Retries': '0' }, 'it');
  const active = run.parse(await call('POST', `/v2/trigger/${broken.url}`, { 'Upstash-Delay': '1h' }, 'it'));
  const failed = messageIdOf(
    await publishAs(account, `${encodeURIComponent(long)}?${String(inQuery)}`, { body }),
  );
  const { messages } = await eventually(
    async () => dlq.parse(await call('GET', '/v2/dlq')),
    (page) => page.messages.length > 0,
  );
  const { messages: failedRuns } = await eventually(
    async () => runs.parse(await call('GET', '/v2/workflows/dlq')),
    (page) => page.messages.length > 0,
  );
  screens = [
    'overview',
    'messages',
    `messages/${failed}`,
    'dead-letters',
    `dead-letters/${messages[0]?.dlqId}`,
    'publish',
    'schedules',
    'schedules/new',
    `schedules/${schedule}/edit`,
    'url-groups',
    'queues',
    'flow-control',
    'runs',
    'runs?list=failed',
    `runs/${failedRuns[0]?.workflowRunId}`,
    `runs/${active.workflowRunId}`,
    'alarms',
    'keys',
    'audit',
    'accounts',
    `accounts/${account.id}`,
    'nowhere',
    ...Object.keys(dialogues),
  ];
});

const turning = /[\u202a-\u202e\u2066-\u2069\u200b]/;

/** Returns everything that is wrong with a page. */
async function complaintsAbout(page: Page): Promise<readonly string[]> {
  const text = await page.evaluate<string>('document.body.innerText');
  const brand = await page.locator('.brand').boundingBox();
  return [
    ...(await scrolledSideways(page)),
    ...(turning.test(text) ? ['A text turns its direction.'] : []),
    ...((brand?.height ?? 0) > 32 ? ['The name of the product is broken.'] : []),
  ];
}

/** Shows another screen in a page, which is loaded again, and waits until it is complete. */
async function show(page: Page, screen: string): Promise<void> {
  await page.goto(`${service.url}/console?${encodeURIComponent(screen)}#/${screen}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('main .loading').count(), { timeout: limitForHangsMs }).toBe(0);
}

describe('Every screen and dialogue', () => {
  it.each([
    [320, 'light'],
    [800, 'dark'],
    [1_440, 'light'],
  ] as const)('is complete and correct at %i px, %s, with any content', async (width, colorScheme) => {
    const page = await openConsole({
      token: account.token,
      isOperator: true,
      viewport: { width, height: 900 },
      colorScheme,
    });
    const found: Record<string, readonly string[]> = {};
    const look = async (): Promise<readonly string[]> => [
      ...(await complaintsAbout(page)),
      // A wide window has the same elements as a medium one.
      ...(width > 1_000 ? [] : await barriersOf(page)),
    ];
    for (const screen of screens) {
      await show(page, screen);
      found[screen] = await look();
      for (const name of dialogues[screen] ?? []) {
        await page.getByRole('main').getByRole('button', { name, exact: true }).click();
        await page.getByRole('dialog').waitFor();
        found[`${screen} ${name}`] = await look();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
    expect(Object.entries(found).filter(([, complaints]) => complaints.length > 0)).toEqual([]);
  });
});

it('A read-only token is offered nothing that changes anything', async () => {
  const changing =
    /^(Add|Cancel|Change|Create|Delete|Edit|New|Notify|Pause|Pin|Publish|Remove|Reset|Restart|Resume|Retry|Rotate|Run|Save(?! this filter))/;
  const offeredTo = async (token: string): Promise<readonly string[]> => {
    const page = await openConsole({ token });
    const found: string[] = [];
    for (const screen of screens) {
      await show(page, screen);
      // Some buttons depend on further answers.
      await page.waitForLoadState('networkidle');
      const names = await page.getByRole('main').locator('button, a.button').allInnerTexts();
      found.push(...names.filter((name) => changing.test(name)).map((name) => `${screen}: ${name}`));
      if ((await page.locator('tbody [type=checkbox]').count()) > 0) found.push(`${screen}: selection`);
    }
    return found;
  };
  const all = await offeredTo(account.token);
  expect(new Set(all.map((one) => one.replace(/: .*/, ''))).size).toBeGreaterThan(18);
  expect(await offeredTo(account.read_only_token)).toEqual([]);
});

it('The screens of an account that has nothing say so, and are accessible', async () => {
  const { token } = await makeAccount({ max_global_parallelism: 42 });
  const page = await openConsole({ token, viewport: { width: 400, height: 900 } });
  for (const [screen, text] of [
    ['overview', 'Nothing has been sent yet.'],
    ['messages', 'No messages yet.'],
    ['dead-letters', 'No dead letters.'],
    ['url-groups', 'No URL groups yet.'],
    ['queues', 'No queues yet.'],
    ['queues', 'of 42'],
    ['flow-control', 'No flow-control keys yet.'],
    ['runs', 'No runs yet.'],
    ['runs?label=nothing', 'No run matches these filters.'],
    ['runs?list=failed', 'There is no failed run to resume.'],
  ] as const) {
    await show(page, screen);
    await page.getByText(text).first().waitFor();
    expect([screen, await barriersOf(page), await scrolledSideways(page)]).toEqual([screen, [], []]);
  }
});

describe('Nothing moves when an answer is late', () => {
  it.each([
    ['a message, with its dead letter', () => screens[2], '**/v2/dlq?dlqIds=**', 'Edit and publish'],
    ['dead letters, with their groups', () => 'dead-letters', '**/v2/dlq/count**', 'at handle'],
    [
      'a form, with the words of its expression',
      () => 'schedules/new',
      '**/v2/cron?**',
      'Message to publish',
    ],
    ['the overview, with its verdict', () => 'overview', '**/v2/stats/attention', 'Hosts'],
    ['flow control, with hosts that are down', () => 'flow-control', '**/v2/circuits', '0 of 1 in 1 d'],
    ['an account, with its tokens', () => `accounts/${account.id}`, '**/users/*/tokens', 'Plan default'],
    ['a schedule, with its times', () => `schedules/${schedule}`, '**/v2/cron?**', 'Message to publish'],
  ])('to %s', async (_what, screenOf, late, text) => {
    const page = await openConsole({ token: account.token, at: '#/keys', isOperator: true });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    // A page that is left may never learn the outcome of its last requests.
    await page.goto('about:blank');
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(late, async (route) => {
      await released;
      await route.continue();
    });
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    const asked = page.waitForRequest(late);
    await page.goto(`${service.url}/console?again#/${screenOf()}`);
    const held = await asked;
    // All other requests are answered, and their answers are drawn.
    for (const request of requests) if (request !== held) await request.response();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.getByText(text).count()).toBe(0);
    release();
    await page.getByText(text).first().waitFor();
  });
});
