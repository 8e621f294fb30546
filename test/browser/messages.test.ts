import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, deadLettered, ok, publishDelayed, unique } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { getInAnyState, untilState } from '../support/listedMessages.ts';
import { heldInbox } from '../support/heldInbox.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { sizeOf } from '../support/sample.ts';
import { startReceiver } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

type Page = Awaited<ReturnType<typeof openConsole>>;

const rows = (page: Page) => page.getByRole('table').locator('tbody tr');
const rowOf = (page: Page, messageId: string) =>
  rows(page).filter({ has: page.locator(`a[href="#/messages/${messageId}"]`) });

/** An inbox that refuses requests with a visible answer. */
const failing = () =>
  receiver.inbox((_delivery, response) =>
    response
      .writeHead(503, { 'content-type': 'application/json', 'x-reason': 'full' })
      .end('{"error":"no room"}'),
  );

describe('The list of messages', () => {
  it('is updated without a reload: a message appears, and then its outcome', async () => {
    const { token } = await makeAccount();
    const page = await openConsole({ at: '#/messages', token });
    await page.getByText('No messages yet.').waitFor();
    const inbox = heldInbox(receiver);
    const messageId = messageIdOf(
      await publishAs({ token }, inbox.url, { headers: { 'Svc-Label': 'mine' } }),
    );
    const row = rowOf(page, messageId);
    await row.getByText('waiting').waitFor();
    await row.getByRole('link', { name: `POST ${inbox.url}`, exact: true }).waitFor();
    await row.getByText('mine', { exact: true }).waitFor();
    inbox.letGo();
    await row.getByText('delivered').waitFor();
    await row.getByText('200').waitFor();
    expect(await rows(page).count()).toBe(1);
  });

  it('has its filters in the address, and shows matching messages', async () => {
    const label = unique('label');
    const waiting = await publishDelayed('https://waiting.example.com/a', { 'Svc-Label': label });
    const failed = messageIdOf(
      await publish(failing().url, { headers: { 'Svc-Label': label, 'Svc-Retries': '0' } }),
    );
    await untilState(failed, 'FAILED');
    const page = await openConsole({ at: '#/messages' });
    await page.getByLabel('Label').fill(label);
    await page.waitForURL(`**/console#/messages?label=${label}`);
    await rowOf(page, waiting).waitFor();
    await rowOf(page, failed).waitFor();
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(2);
    await page.getByLabel('State').selectOption('Failed');
    await page.waitForURL(`**/console#/messages?label=${label}&state=FAILED`);
    await rowOf(page, waiting).waitFor({ state: 'detached' });
    await page.reload();
    await rowOf(page, failed).waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe(label);
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(1);
    await page.getByLabel('State').selectOption('Waiting');
    await rowOf(page, waiting).waitFor();
    await page.getByLabel('Host').fill('nowhere.example.com');
    await page.getByText('No message matches these filters.').waitFor();
    await page.getByLabel('Host').fill('waiting.example.com');
    await rowOf(page, waiting).waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByText('No message matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    expect(page.url()).toMatch(/#\/messages$/);
    await page.getByLabel('Message id').fill(waiting);
    await page.waitForURL(`**/console#/messages?messageIds=${waiting}`);
    await rowOf(page, waiting).waitFor();
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(1);
  });

  it('stays usable with more messages than it shows at once, and finds the oldest', async () => {
    const { token } = await makeAccount({ max_requests_per_second: 10_000 });
    const number = sizeOf({ ordinary: 2_000, thorough: 10_000 });
    // More than a page shows at once. A thorough run reads all.
    const looked = sizeOf({ ordinary: 1_200, thorough: number });
    const item = (index: number) => ({
      destination: `https://example.com/${index}`,
      headers: { 'Svc-Delay': '10d', 'Svc-Label': index === 17 ? 'the-needle' : 'hay' },
    });
    const size = 1_000;
    for (let from = 0; from < number; from += size) {
      const body = Array.from({ length: size }, (_, index) => item(from + index));
      await ok(api('POST', '/v2/batch', { body, token }));
    }
    const page = await openConsole({ at: '#/messages', token });
    await rows(page).first().waitFor();
    const linksOf = async (): Promise<readonly string[]> =>
      z
        .array(z.string())
        .parse(await page.evaluate('[...document.querySelectorAll("tbody a")].map((link) => link.hash)'));
    const seen = new Set(await linksOf());
    const mostRows = 1_000;
    while (seen.size < looked) {
      const last = await page.locator('tbody tr:last-child a').getAttribute('href');
      await page.getByRole('button', { name: 'Load more' }).click();
      await page.locator(`tbody tr:last-child a:not([href="${last}"])`).waitFor();
      const links = await linksOf();
      expect(links.length).toBeLessThanOrEqual(mostRows);
      const before = seen.size;
      for (const link of links) seen.add(link);
      expect(seen.size).toBe(before + 100);
    }
    const more = page.getByRole('button', { name: 'Load more' });
    await more.waitFor({ state: looked < number ? 'visible' : 'detached' });
    const shown = new Intl.NumberFormat('en').format(looked);
    await page.getByText(new RegExp(`^Entries [\\d,]+01 to ${shown}\\.`)).waitFor();
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await rows(page).nth(100).waitFor({ state: 'detached' });
    await page.getByLabel('Label').fill('the-needle');
    await page.getByRole('link', { name: 'POST https://example.com/17', exact: true }).waitFor();
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(1);
  });

  it('cancels all waiting messages that match, after showing their number', async () => {
    const label = unique('label');
    const ids = await Promise.all(
      [1, 2, 3].map(() => publishDelayed('https://example.com/x', { 'Svc-Label': label })),
    );
    const other = await publishDelayed('https://example.com/x');
    const page = await openConsole({ at: `#/messages?label=${label}` });
    await page.getByRole('button', { name: 'Cancel all waiting' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 3 messages?' });
    await dialog.waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await getInAnyState(ids[0] ?? '')).toMatchObject({ state: 'CREATED' });
    await page.getByRole('button', { name: 'Cancel all waiting' }).click();
    await dialog.getByRole('button', { name: 'Cancel 3 messages' }).click();
    await page.getByRole('status').getByText('3 messages cancelled.').waitFor();
    for (const messageId of ids) await rowOf(page, messageId).getByText('cancelled').waitFor();
    expect(await getInAnyState(other)).toMatchObject({ state: 'CREATED' });
    await page.getByLabel('State').selectOption('Delivered');
    await page.getByRole('button', { name: 'Cancel all waiting' }).waitFor({ state: 'detached' });
  });
});

describe('A failed message', () => {
  it('shows why, attempt by attempt, and leads to its callbacks and its dead letter', async () => {
    const told = receiver.inbox();
    const inbox = failing();
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: '{"order":7}',
        headers: {
          'content-type': 'application/json',
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Callback': told.url,
          'Svc-Forward-X-Tenant': 'acme',
        },
      }),
    );
    await untilState(messageId, 'FAILED');
    const page = await openConsole({ at: `#/messages?messageIds=${messageId}` });
    await rowOf(page, messageId).getByRole('link').click();
    await page.getByRole('heading', { name: messageId, level: 1 }).waitFor();
    await page.getByText('Attempt 2').waitFor();
    const [second, first, created] = await page.locator('.timeline li').all();
    expect(await second?.textContent()).toMatch(/^failedAttempt 2 of 2: 503.*took \d+ ms/);
    expect(await first?.textContent()).toMatch(/^failedAttempt 1 of 2: 503/);
    expect(await created?.textContent()).toMatch(/^published/);
    await page.getByText('"error": "no room"').first().waitFor();
    expect(await page.getByText('X-Reason').first().isVisible()).toBe(true);
    // The first attempt’s answer is shown on demand.
    expect(await first?.getByText('"error": "no room"').isVisible()).toBe(false);
    await first?.getByText('Answer').click();
    expect(await first?.getByText('"error": "no room"').isVisible()).toBe(true);
    expect(await page.getByRole('region', { name: 'the body of the request' }).textContent()).toBe(
      '{\n  "order": 7\n}',
    );
    const request = page.getByRole('region', { name: 'Request', exact: true });
    expect(await request.textContent()).toContain('X-Tenantacme');
    const [deadLetter] = await deadLettered({ messageId }, 1);
    await page.locator(`a[href="#/dead-letters/${deadLetter?.dlqId}"]`).waitFor();
    const callbacks = page.getByRole('table', { name: 'Callbacks of this message' });
    await callbacks.getByText('delivered').nth(1).waitFor();
    await callbacks.getByRole('link').first().click();
    await page.getByRole('heading', { name: /^msg_/, level: 1 }).waitFor();
    await page.getByText(`"sourceMessageId": "${messageId}"`).waitFor();
  });

  it('says if there was no answer', async () => {
    const messageId = messageIdOf(await publish('http://127.0.0.1:1/', { headers: { 'Svc-Retries': '0' } }));
    await untilState(messageId, 'FAILED');
    const page = await openConsole({ at: `#/messages/${messageId}` });
    await page.getByText('Attempt 1 of 1: no answer').waitFor();
    await page.locator('.timeline .wrong').waitFor();
    expect(await page.locator('.timeline details').count()).toBe(0);
  });
});

describe('A viewed message', () => {
  it('is updated without a reload until it has ended', async () => {
    const inbox = heldInbox(receiver);
    const messageId = messageIdOf(await publish(inbox.url));
    const page = await openConsole({ at: `#/messages/${messageId}` });
    const state = page.locator('.state').first();
    await state.getByText('waiting').waitFor();
    inbox.letGo();
    await state.getByText('delivered').waitFor();
    await page.getByText(/^Attempt 1 of \d: 200$/).waitFor();
    await page.getByText('Only the status of a successful answer is kept').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('is published again unchanged, as a new one', async () => {
    const inbox = receiver.inbox();
    const source = messageIdOf(
      await publish(inbox.url, { body: 'once more', headers: { 'Svc-Redact-Fields': 'body' } }),
    );
    await inbox.received(1);
    const page = await openConsole({ at: `#/messages/${source}` });
    await page.getByText(/^REDACTED:/).waitFor();
    await page.getByRole('button', { name: 'Publish again…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish the message again?' });
    await dialog.getByText('This one stays as it is.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Publish again' }).click();
    const [, second] = await inbox.received(2);
    expect(second?.body.toString()).toBe('once more');
    await page.getByRole('status').getByText('Published again.').waitFor();
    const made = second?.headers['svc-message-id'] ?? '';
    await page.getByRole('heading', { name: made, level: 1 }).waitFor();
    await page.getByRole('link', { name: source }).click();
    await page.getByRole('heading', { name: source, level: 1 }).waitFor();
    await page.getByRole('link', { name: made }).waitFor();
  });

  it('that failed is retried by its first button, which leads to the new one', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const messageId = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retries': '0' } }));
    await deadLettered({ messageId }, 1);
    const page = await openConsole({ at: `#/messages/${messageId}` });
    const retry = page.getByRole('button', { name: 'Retry…' });
    await retry.waitFor();
    expect(await page.locator('.page-head .actions .button').first().textContent()).toBe('Retry…');
    await retry.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 dead letter' }).click();
    await page.getByRole('link', { name: messageId }).click();
    await page.getByRole('heading', { name: messageId, level: 1 }).waitFor();
    await page.getByText('Sent again as').waitFor();
    expect(await page.getByRole('button', { name: 'Retry…' }).count()).toBe(0);
  });

  it('shows two attempts side by side, and highlights differences in their answers', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response
        .writeHead(before === 0 ? 500 : 503, { 'content-type': 'application/json' })
        .end(JSON.stringify({ same: 'in both', own: `of ${before + 1}` })),
    );
    const headers = { 'Svc-Retries': '1', 'Svc-Retry-Delay': '0' };
    const messageId = messageIdOf(await publish(inbox.url, { headers }));
    await untilState(messageId, 'FAILED');
    const page = await openConsole({ at: `#/messages/${messageId}` });
    await page.getByRole('button', { name: 'Compare answers' }).click();
    const [left, right] = [1, 2].map((number) =>
      page.getByRole('region', { name: `Answer to attempt ${number}` }),
    );
    await left?.getByText('"own": "of 1"').waitFor();
    const marked = async (side: typeof left) => (await side?.locator('.other').allTextContents()) ?? [];
    expect((await marked(left)).join('')).toContain('"own": "of 1"');
    expect((await marked(left)).join('')).not.toContain('in both');
    expect((await marked(right)).join('')).toContain('"own": "of 2"');
    expect(await barriersOf(page)).toEqual([]);
  });

  it('that waits for its host shows the time of the next probe', async () => {
    const owner = await makeAccount({ circuit: { enabled: true, failures: 2, open_seconds: 600 } });
    const own = await startReceiver();
    onTestFinished(() => own.close());
    const inbox = own.inbox((_delivery, response) => response.writeHead(503).end());
    const headers = { 'Svc-Retries': '5', 'Svc-Retry-Delay': '1500' };
    const messageId = messageIdOf(await publishAs(owner, inbox.url, { headers }));
    const page = await openConsole({ at: `#/messages/${messageId}`, token: owner.token });
    await page.getByText(/is down \(503\); next probe in \d+ min/).waitFor();
    await page.getByText('waits for its host').waitFor();
    expect(await barriersOf(page)).toEqual([]);
  });

  it('is cancelled after a confirmation', async () => {
    const messageId = await publishDelayed(receiver.inbox().url);
    const page = await openConsole({ at: `#/messages/${messageId}` });
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 1 message?' });
    await dialog.waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await getInAnyState(messageId)).toMatchObject({ state: 'CREATED' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the message' }).click();
    await page.getByRole('status').getByText('The message has been cancelled.').waitFor();
    await page.locator('.timeline').getByText('cancelled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
    expect(await getInAnyState(messageId)).toMatchObject({ state: 'CANCELED' });
  });

  it('is changed before its next attempt, and a refusal is shown under its field', async () => {
    const messageId = await publishDelayed(receiver.inbox().url, { 'Svc-Retries': '2' });
    const page = await openConsole({ at: `#/messages/${messageId}`, refusals: [400] });
    await page.getByRole('button', { name: 'Change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the message' });
    await dialog.getByLabel('Retries').fill('many');
    await dialog.getByRole('button', { name: 'Change the message' }).click();
    await dialog.getByText(/^Retries is "many"; allowed is a whole number/).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByLabel('Retries').fill('1');
    await dialog.getByLabel('Delay from now').fill('2h');
    await dialog.getByRole('button', { name: 'Change the message' }).click();
    await page
      .getByRole('status')
      .getByText(/^The message has been changed. Its next attempt is due at /)
      .waitFor();
    expect(await getInAnyState(messageId)).toMatchObject({ maxRetries: 1 });
  });

  it('is copied as a command that publishes it', async () => {
    const messageId = await publishDelayed('https://example.com/it', { 'Svc-Forward-X-Quote': `it's` });
    const page = await openConsole({
      at: `#/messages/${messageId}`,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'Copy as curl', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toContain(`curl '${service.url}/v2/publish/https://example.com/it'`);
    expect(copied).toContain(`-H 'Svc-Forward-X-Quote: it'\\''s'`);
    expect(copied).not.toContain(service.token);
    await page.getByRole('button', { name: 'Copy as curl to the destination' }).click();
    await page.getByRole('button', { name: 'Copied' }).nth(1).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl 'https://example.com/it' \\\n  -H 'Content-Type: text/plain;charset=UTF-8' \\\n  -H 'X-Quote: it'\\''s' \\\n  --data-raw 'later'`,
    );
  });

  it('is reported as missing if it does not exist', async () => {
    const page = await openConsole({ at: '#/messages/msg_01M7W4BM2WG14BG3V1YN3YTREK', refusals: [404] });
    await page.getByRole('alert').getByText('There is no message').waitFor();
  });
});

describe('A message that waits for an answer', () => {
  const awaiting = async (token: string, more: Record<string, string> = {}) => {
    const accepting = receiver.inbox((_delivery, response) => response.writeHead(202).end());
    const headers = { 'Svc-Deferred': '2h', 'Svc-Retries': '1', 'Svc-Retry-Delay': '1', ...more };
    const messageId = messageIdOf(await publishAs({ token }, accepting.url, { headers }));
    return { accepting, messageId };
  };
  const comment = '承認: 東京';

  it('is found on the overview and in the list, and completed with three clicks', async () => {
    const { token } = await makeAccount();
    await awaiting(token, { 'Svc-Label': 'approval' });
    const page = await openConsole({ at: '#/messages?state=ACTIVE', token });
    await page.getByRole('cell', { name: 'waiting for an answer' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.figure', { hasText: 'For an answer' }).getByRole('link', { name: '1' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('link', { name: /^approval · / }).click();
    await page.getByRole('button', { name: 'Complete…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Comment').fill(comment);
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Complete', exact: true }).click();
    await page.getByText('The message is delivered.').waitFor();
    await page.getByText(`Completed by the account’s token: ${comment}`).waitFor();
  });

  it('can be failed, once or permanently', async () => {
    const { token } = await makeAccount();
    const { accepting, messageId } = await awaiting(token);
    const page = await openConsole({ at: `#/messages/${messageId}`, token });
    await page.getByText('waiting for an answer').first().waitFor();
    await page.getByText(/^until .*; the destination has answered 202$/).waitFor();
    const failWith = async (answer: string): Promise<void> => {
      await page.getByRole('button', { name: 'Fail…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Effect').selectOption({ label: answer });
      await dialog.getByLabel('Comment').fill(comment);
      expect(await barriersOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Fail', exact: true }).click();
    };
    await failWith('Like any failure: it is retried if retries are left');
    await page.getByText('The attempt failed. The next one follows.').waitFor();
    await accepting.received(2);
    await page.getByRole('button', { name: 'Fail…' }).waitFor();
    await failWith('It fails permanently');
    await page.getByText('The message has failed.').waitFor();
    await page.getByRole('button', { name: 'Retry…' }).waitFor();
    expect(await page.getByText(comment).count()).toBe(2);
  });

  it('says if another answer was first', async () => {
    const { token } = await makeAccount();
    const { messageId } = await awaiting(token);
    const page = await openConsole({ at: `#/messages/${messageId}`, token });
    await page.getByRole('button', { name: 'Fail…' }).click();
    const body = { status: 200, comment };
    await ok(api('POST', `/v2/messages/${messageId}/complete`, { token, body }));
    await page.getByRole('dialog').getByRole('button', { name: 'Fail', exact: true }).click();
    await page.getByText('Another answer was first. The message is delivered.').waitFor();
  });
});
