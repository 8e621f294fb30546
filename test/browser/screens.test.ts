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
const runs = z.object({ messages: z.array(z.object({ workflowRunId: z.string() })) });

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

describe('Every screen and dialogue', () => {
  it.each([
    [400, 'light'],
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
    for (const [index, screen] of screens.entries()) {
      // Another query makes another page of it.
      await page.goto(`${service.url}/console?${index}#/${screen}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.locator('main .loading').count(), { timeout: limitForHangsMs }).toBe(0);
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

describe('Nothing moves when an answer is late', () => {
  it.each([
    ['a message, with its dead letter', () => screens[2], '**/v2/dlq?dlqIds=**', 'Edit and publish'],
    ['dead letters, with their groups', () => 'dead-letters', '**/v2/dlq/count**', 'at handle'],
    ['a form, with the words of its expression', () => 'schedules/new', '**/v2/cron?**', 'What it publishes'],
    ['the overview, with its verdict', () => 'overview', '**/v2/stats/attention', 'How hosts answer'],
    ['flow control, with hosts that are down', () => 'flow-control', '**/v2/circuits', '0 of 1 in 1 d'],
    ['an account, with its tokens', () => `accounts/${account.id}`, '**/users/*/tokens', 'Of the plan'],
    ['a schedule, with its times', () => `schedules/${schedule}`, '**/v2/cron?**', 'What it publishes'],
  ])('to %s', async (_what, screenOf, late, text) => {
    const page = await openConsole({ token: account.token, at: '#/keys', isOperator: true });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
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
    // Everything else is answered and drawn.
    for (const request of requests) if (request !== held) await request.response();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.getByText(text).count()).toBe(0);
    release();
    await page.getByText(text).first().waitFor();
  });
});
