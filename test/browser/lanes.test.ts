import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf, heldInbox } from '../support/heldInbox.ts';
import { enqueue, lagOf, putQueue, send, underKey } from '../support/lanes.ts';
import { service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const keyShape = z.object({
  parallelismMax: z.number(),
  rateMax: z.number(),
  rateCount: z.number(),
  ratePeriod: z.number(),
  isPaused: z.boolean(),
  isPinnedParallelism: z.boolean(),
  isPinnedRate: z.boolean(),
});
const keyOf = async (key: string) =>
  keyShape.parse(await ok(api('GET', `/v2/flowControl/${encodeURIComponent(key)}`)));

/** All characters that an address has to encode. */
const awkwardKey = (): string => unique('a/b c%2F?d#..');

describe('A queue', () => {
  it('is created, paused, shows waiting messages, and delivers them when it is resumed', async () => {
    const inbox = receiver.inbox();
    const name = unique('queue');
    const page = await openConsole({ at: '#/queues' });
    await page.getByRole('button', { name: 'New queue' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Parallelism', { exact: true }).fill('2');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(`“${name}” is paused.`).waitFor();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    for (const body of ['1', '2', '3']) await enqueue(name, inbox.url, { body });
    // The number is updated without a reload.
    const waiting = page.getByText('Waiting or in flight').locator('xpath=..');
    await waiting.getByText('3', { exact: true }).waitFor();
    expect(inbox.deliveries).toEqual([]);
    // The age of the oldest message, and the list.
    const oldest = page.getByText('Oldest published').locator('xpath=..');
    await oldest.getByText(/^(now|\d+ \w+ ago)$/).waitFor();
    const list = page.getByRole('table', { name: 'The next messages, the first at the top' });
    await list.getByRole('row').nth(3).waitFor();
    await list.getByRole('row').nth(1).getByRole('link', { name: inbox.url }).waitFor();
    await page.getByText('The queue is paused: none of its messages is delivered.').waitFor();
    await page.getByText(/by the account’s token, /).waitFor();
    await page.getByText('No message of it ended recently.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show its messages' }).click();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    expect(page.url()).toContain(`#/messages?state=CREATED%2CRETRY&queueName=${name}`);
    await page.goto(`${service.url}/console#/queues`);
    await page.getByRole('button', { name: `Resume ${name}` }).click();
    await inbox.received(3);
    expect(new Set(bodiesOf(inbox))).toEqual(new Set(['1', '2', '3']));
    await page.getByRole('button', { name: `Pause ${name}` }).waitFor();
  });

  it('has a next message although pages of the list are empty, or end before it', async () => {
    const name = unique('queue');
    await putQueue(name, { parallelism: 1, paused: true });
    for (const path of ['first', 'second']) await enqueue(name, `https://example.com/${path}`);
    const page = await openConsole({ at: '#/keys' });
    let [empty, cut] = [0, 0];
    // Marks the page as incomplete, because a test cannot wait until a page takes more than a second.
    await page.route(/\/v2\/messages\?.*CREATED/, async (route) => {
      const url = new URL(route.request().url());
      const response = await route.fetch();
      const { messages } = z.object({ messages: z.array(z.unknown()) }).parse(await response.json());
      if (url.searchParams.has('fromDate')) {
        cut += 1;
        return route.fulfill({ json: { messages: messages.slice(0, 1), cursor: 'x' } });
      }
      empty += 1;
      return route.fulfill({ json: { messages: [], cursor: 'x' } });
    });
    await page.route(/\/v2\/messages\?.*cursor=x/, async (route) => {
      const url = new URL(route.request().url());
      url.searchParams.delete('cursor');
      const response = await route.fetch({ url: url.href });
      await route.fulfill({ response });
    });
    await page.goto(`${service.url}/console#/queues/${name}`);
    const list = page.getByRole('table', { name: 'The next messages, the first at the top' });
    await list.getByRole('link', { name: 'https://example.com/first' }).waitFor();
    await page.getByText('1 more are behind it.').waitFor();
    expect([cut > 0, empty > 0, await page.getByText('No message waits here.').count()]).toEqual([
      true,
      true,
      0,
    ]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('says what its first message waits for, and how fast it is', async () => {
    const name = unique('queue');
    await putQueue(name, { parallelism: 1 });
    const good = receiver.inbox();
    await enqueue(name, good.url, { body: 'first' });
    await good.received(1);
    const bad = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    await enqueue(name, bad.url, { headers: { 'Svc-Retry-Delay': '3600000' } });
    await bad.received(1);
    await enqueue(name, good.url, { body: 'behind' });
    const page = await openConsole({ at: `#/queues/${name}` });
    await page
      .getByText(/^The first message has failed 1 time; its next attempt is due in \d+ min. All others/)
      .waitFor();
    const next = page.getByRole('table', { name: 'The next messages' }).locator('tbody tr');
    expect(await next.nth(0).innerText()).toContain(bad.url);
    expect(await next.nth(1).innerText()).toContain(good.url);
    await page.getByRole('img', { name: /^[\d.]+ a minute: 1 delivered, 0 failed or cancelled\b/ }).waitFor();
    await page.getByText(/^The last 1 message that ended, /).waitFor();
    await page.getByRole('img', { name: 'Peak of waiting messages: 1' }).waitFor();
    await page.getByRole('img', { name: 'Attempts: 1 succeeded, 1 failed' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('gets another parallelism, within the account’s limit', async () => {
    const name = unique('queue');
    await putQueue(name, { parallelism: 1 });
    const page = await openConsole({ at: `#/queues/${name}`, refusals: [412] });
    await page.getByRole('button', { name: 'Change parallelism' }).click();
    await page.getByLabel('Parallelism', { exact: true }).fill('100000');
    await page.getByRole('button', { name: 'Save' }).click();
    await wrongUnder(page, 'Parallelism').getByText("the account's limit max_parallelism").waitFor();
    await page.getByLabel('Parallelism', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    const shown = page.getByText('Maximum in flight').locator('xpath=..');
    await shown.getByText('7', { exact: true }).waitFor();
  });

  it('is deleted with its waiting messages, whose number is shown first', async () => {
    const inbox = receiver.inbox();
    const name = unique('queue');
    await putQueue(name, { paused: true });
    for (const body of ['1', '2']) await enqueue(name, inbox.url, { body });
    expect(await lagOf(name)).toBe(2);
    const page = await openConsole({ at: `#/queues/${name}` });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('It has 2 messages.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete the queue' }).click();
    await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor();
    expect((await api('GET', `/v2/queues/${name}`)).status).toBe(404);
  });
});

describe('A flow-control key', () => {
  it('shows waiting messages and its limits, with any characters in its name', async () => {
    const inbox = heldInbox(receiver);
    const key = awkwardKey();
    for (const body of ['1', '2', '3']) {
      await send(inbox.url, { body, headers: underKey(key, 'parallelism=1, rate=50, period=1h') });
    }
    await inbox.received(1);
    const page = await openConsole({ at: '#/flow-control' });
    await page.getByLabel('Key').fill(key);
    const row = page.getByRole('row', { name: key });
    await row.getByText('1 of 1', { exact: true }).waitFor();
    await row.getByText('of 50 in 1 h').waitFor();
    // The search text is in the address.
    await page.waitForURL(
      (url) => url.hash === `#/flow-control?${new URLSearchParams({ search: key }).toString()}`,
    );
    expect(await barriersOf(page)).toEqual([]);
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: key, level: 1 }).waitFor();
    await page.getByRole('meter', { name: 'In flight' }).waitFor();
    const waiting = page.getByText('Waiting for their turn').locator('xpath=..');
    await waiting.getByText('2', { exact: true }).waitFor();
    const oldest = page.getByText('Oldest published').locator('xpath=..');
    await oldest.getByText(/^(now|\d+ \w+ ago)$/).waitFor();
    await page.getByRole('table', { name: 'Waiting messages' }).getByRole('row').nth(1).waitFor();
    expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
    await page.reload();
    await page.getByRole('heading', { name: key, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    inbox.letGo();
    expect((await keyOf(key)).isPaused).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).click();
    await inbox.received(3);
  });

  it('gets pinned limits, a new period, and no limits', async () => {
    const inbox = receiver.inbox();
    const key = unique('key');
    await send(inbox.url, { headers: underKey(key, 'parallelism=3, rate=1, period=1h') });
    await inbox.received(1);
    await send(inbox.url, { headers: underKey(key, 'parallelism=3, rate=1, period=1h') });
    const page = await openConsole({ at: `#/flow-control/${key}`, refusals: [400] });
    await page.getByRole('button', { name: 'Reset rate' }).click();
    await inbox.received(2);
    await page.getByRole('button', { name: 'Pin limits' }).click();
    await page.getByLabel('Period').fill('8d');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await wrongUnder(page, 'Period').getByText('Period is "8d"').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Parallelism', { exact: true }).fill('5');
    await page.getByLabel('Rate').fill('9');
    await page.getByLabel('Period').fill('1m');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await page.getByText('In flight, pinned').waitFor();
    expect(await keyOf(key)).toMatchObject({
      parallelismMax: 5,
      rateMax: 9,
      ratePeriod: 60,
      isPinnedParallelism: true,
      isPinnedRate: true,
    });
    await page.getByRole('button', { name: 'Unpin' }).click();
    await page.getByRole('button', { name: 'Unpin' }).waitFor({ state: 'detached' });
    expect(await keyOf(key)).toMatchObject({ isPinnedParallelism: false, isPinnedRate: false });
  });
});

describe('Lanes', () => {
  it('in large numbers are reloaded less often, because each is read', async () => {
    const { token } = await makeAccount({ max_queues: 200 });
    const make = (queueName: string) => ok(api('POST', '/v2/queues', { token, body: { queueName } }));
    await Promise.all(Array.from({ length: 200 }, (_, index) => make(`queue-${index}`)));
    const page = await openConsole({ at: '#/keys', token });
    const times: number[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/v2/queues')) times.push(Date.now());
    });
    await page.getByRole('link', { name: 'Queues' }).click();
    const [first = 0, second = 0] = await eventually(
      () => Promise.resolve(times),
      ({ length }) => length > 1,
    );
    // Shorter lists are reloaded every three seconds.
    expect(second - first).toBeGreaterThan(5_000);
  });

  it('show a dash for a figure that could not be read', async () => {
    const page = await openConsole({ at: '#/overview', refusals: [503] });
    await page.route('**/v2/globalParallelism', (route) =>
      route.fulfill({ status: 503, json: { error: 'Try again.', code: 'unavailable' } }),
    );
    await page.getByRole('link', { name: 'Queues' }).click();
    await page.getByText('Try again.').waitFor();
    const figure = page.getByText('Deliveries of the account in flight').locator('xpath=..');
    expect(await figure.innerText()).toMatch(/–$/);
  });
});
