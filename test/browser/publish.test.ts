import { describe, expect, it } from 'vitest';
import { makeAccount } from '../support/accounts.ts';
import { unique } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { makeGroup } from '../support/groups.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

type Page = Awaited<ReturnType<typeof openConsole>>;

const submit = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true }).click();

async function shownMessage(page: Page): Promise<string> {
  const title = page.getByRole('heading', { name: /^msg_/, level: 1 });
  await title.waitFor();
  const messageId = (await title.textContent()) ?? '';
  expect(page.url()).toContain(`#/messages/${messageId}`);
  return messageId;
}

describe('The form of a message', () => {
  it('publishes it with all settings, and shows it', async () => {
    const inbox = receiver.inbox();
    const queue = unique('queue');
    const page = await openConsole({ at: '#/publish' });
    await page.getByLabel('Method', { exact: true }).selectOption('PUT');
    await page.getByLabel('Destination', { exact: true }).fill(`${inbox.url}?a=1&b=ü`);
    await page.getByLabel('Body', { exact: true }).fill('{"it\'s":"ünï"}');
    await page
      .getByLabel('Headers', { exact: true })
      .fill(`X-Tenant: acme\nX-Name: José\nSvc-Callback-Retries: 1`);
    await page.getByLabel('Labels', { exact: true }).fill('a, grün');
    await page.getByLabel('Delay', { exact: true }).fill('1s');
    await page.getByLabel('Timeout', { exact: true }).fill('20s');
    await page.getByLabel('Retries', { exact: true }).fill('2');
    await page.getByLabel('Retry delay, in milliseconds', { exact: true }).fill('1000 * (1 + retried)');
    await page.getByLabel('Queue', { exact: true }).fill(queue);
    await page.getByLabel('Flow-control key', { exact: true }).fill('tenant-7');
    await page.getByLabel('Parallelism', { exact: true }).fill('3');
    await page.getByLabel('Rate', { exact: true }).fill('10');
    await page.getByLabel('Period of the rate', { exact: true }).fill('1m');
    await page.getByLabel('Callback', { exact: true }).fill(`${inbox.url}/done`);
    await page.getByLabel('Failure callback', { exact: true }).fill(`${inbox.url}/failed`);
    await page.getByLabel('Deduplication id', { exact: true }).fill(unique('dedup'));
    await submit(page);
    const messageId = await shownMessage(page);
    const toast = page.getByRole('status').filter({ hasText: 'Published.' });
    expect(await toast.getByRole('link').getAttribute('href')).toBe(`#/messages/${messageId}`);
    expect(await barriersOf(page)).toEqual([]);
    const [delivery] = await inbox.until((all) => all.some(({ method }) => method === 'PUT'));
    expect(delivery).toMatchObject({ method: 'PUT', body: Buffer.from('{"it\'s":"ünï"}') });
    expect(`${receiver.origin}${delivery?.target}`).toBe(encodeURI(`${inbox.url}?a=1&b=ü`));
    expect(await getInAnyState(messageId)).toMatchObject({
      header: { 'Content-Type': ['application/json'], 'X-Tenant': ['acme'], 'X-Name': ['José'] },
      labels: ['a', 'grün'],
      timeout: 20,
      maxRetries: 2,
      retryDelayExpression: '1000 * (1 + retried)',
      queueName: queue,
      flowControlKey: 'tenant-7',
      parallelism: 3,
      rate: 10,
      period: 60,
      callback: `${inbox.url}/done`,
      failureCallback: `${inbox.url}/failed`,
    });
  });

  it('delays it until a time in the viewer’s zone', async () => {
    const page = await openConsole({ at: '#/publish?destination=https://example.com/later' });
    await page.getByLabel('Not before').fill('2027-01-01T00:30');
    await submit(page);
    const { notBefore } = await getInAnyState(await shownMessage(page));
    expect(notBefore).toBe(Date.parse('2027-01-01T00:30:00+01:00'));
  });

  it('shows an error at its field, and keeps the input', async () => {
    const page = await openConsole({ at: '#/publish', refusals: [400, 404, 412] });
    const wrong = async (label: string, text: string, sentence: RegExp, right = ''): Promise<void> => {
      const field = page.getByLabel(label, { exact: true });
      await field.fill(text);
      await submit(page);
      await page.locator('.field .wrong').getByText(sentence).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await page.locator('[aria-invalid="true"]:focus').waitFor();
      expect(await field.inputValue()).toBe(text);
      // The error is shown once, where it was made.
      expect(await page.locator('.toast').count()).toBe(0);
      await field.fill(right);
      expect(await field.getAttribute('aria-invalid')).toBe('false');
    };
    await page.getByLabel('Body').fill('"kept"');
    await wrong(
      'Body',
      '{"a":}',
      /^The content type is application\/json, but the body is not JSON: /,
      '"kept"',
    );
    await wrong('Destination', ' ', /^The destination is missing/, 'x');
    await wrong('Destination', 'no-such-group', /^There is no URL group/, 'https://example.com/x');
    await wrong('Delay', 'tomorrow', /^Delay is "tomorrow"/);
    await wrong('Retries', '6', /max_retries is 5/);
    await wrong('Timeout', 'x', /^Timeout is "x"/);
    await wrong('Queue', 'a b', /^The name of the queue is "a b"/);
    await wrong('Callback', 'ftp://x', /^Callback is "ftp:/, 'https://example.com/told');
    await page.getByText('Delivery of the callback', { exact: true }).click();
    await wrong('Callback: Retries', 'x', /^Callback: Retries is "x"/);
    await wrong('Headers', 'X-A: 1\nnonsense', /“nonsense” is not a header/);
    await page.getByLabel('Flow-control key', { exact: true }).fill('k');
    await page.getByLabel('Rate', { exact: true }).fill('many');
    await submit(page);
    await page.getByText('The rate of Flow-control limits is "many"').first().waitFor();
    expect(await page.getByLabel('Rate', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(await barriersOf(page)).toEqual([]);
    expect(await page.getByLabel('Body').inputValue()).toBe('"kept"');
  });

  it('shows errors that concern no field', async () => {
    const { token } = await makeAccount({ max_requests_per_day: 0, max_requests_per_day_hard: 0 });
    const page = await openConsole({ at: '#/publish', token, refusals: [429] });
    await page.getByLabel('Destination').fill('https://example.com/x');
    await submit(page);
    await page.locator('.aside .wrong').getByText('max_requests_per_day_hard').waitFor();
    expect(await page.locator('[aria-invalid="true"]').count()).toBe(0);
  });

  it('publishes to a URL group, and shows the message of each endpoint', async () => {
    const [one, two] = [receiver.inbox(), receiver.inbox()];
    const name = await makeGroup([{ url: one.url }, { url: two.url }]);
    const page = await openConsole({ at: `#/publish?destination=${name}` });
    await page.getByLabel('Body').fill('"to both"');
    await submit(page);
    await page.getByRole('status').getByText('2 messages published.').waitFor();
    await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor();
    for (const { url } of [one, two]) await page.getByRole('link', { name: `POST ${url}` }).waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
  });

  it('leads to the first message if it would make a duplicate', async () => {
    const body = JSON.stringify(unique('content'));
    const url = receiver.inbox().url;
    const headers = { 'Svc-Content-Based-Deduplication': 'true', 'content-type': 'application/json' };
    const first = messageIdOf(await publish(url, { body, headers }));
    const page = await openConsole({ at: `#/publish?destination=${encodeURIComponent(url)}` });
    await page.getByLabel('Body').fill(body);
    await page.getByLabel('A message with the same content').check();
    await submit(page);
    await page.getByRole('status').getByText('A duplicate. This is the first message.').waitFor();
    expect(await shownMessage(page)).toBe(first);
  });

  it('shows it as code without a token, and copies the code', async () => {
    const page = await openConsole({ at: '#/publish', permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('Destination').fill('https://example.com/x');
    await page.getByLabel('Body').fill('{"a":1}');
    const copied = async (name: string): Promise<string> => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: `Copy ${name}` }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const text = await page.evaluate('navigator.clipboard.readText()');
      expect(text).toBe(await page.getByRole('region', { name, exact: true }).textContent());
      return String(text);
    };
    const curl = await copied('curl');
    expect(curl).toContain(`curl '${service.url}/v2/publish/https://example.com/x'`);
    expect(curl).toContain(`--data-raw '{"a":1}'`);
    await page.getByRole('button', { name: 'Copy curl' }).waitFor();
    const code = await copied('TypeScript');
    expect(code).toContain('url: "https://example.com/x"');
    for (const text of [curl, code]) {
      expect(text).toContain('SVC_TOKEN');
      expect(text).not.toContain(service.token);
    }
  });
});

describe('An edited message', () => {
  it('is published as a new one, with the changes and everything else', async () => {
    const inbox = receiver.inbox();
    const headers = {
      'Svc-Delay': '10m',
      'Svc-Label': 'mine',
      'Svc-Forward-X-Tenant': 'acme',
      'Svc-Retries': '1',
      'content-type': 'text/plain',
    };
    const source = messageIdOf(await publish(inbox.url, { body: 'before', headers }));
    const page = await openConsole({ at: `#/messages/${source}` });
    await page.getByRole('link', { name: 'Edit and publish' }).click();
    await page.getByRole('heading', { name: 'Publish', level: 1 }).waitFor();
    expect(page.url()).toContain(`#/publish?message=${source}`);
    await page.getByLabel('Body').fill('after');
    await page.getByLabel('Not before').fill('');
    await submit(page);
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.toString()).toBe('after');
    expect(delivery?.headers).toMatchObject({ 'x-tenant': 'acme', 'content-type': 'text/plain' });
    const made = await shownMessage(page);
    expect(made).not.toBe(source);
    expect(await getInAnyState(made)).toMatchObject({ labels: ['mine'], maxRetries: 1 });
    expect(await getInAnyState(source)).toMatchObject({ state: 'CREATED', body: 'before' });
  });

  it('keeps a binary body', async () => {
    const inbox = receiver.inbox();
    const body = new Uint8Array([0, 255, 254, 10, 13]);
    const headers = { 'content-type': 'application/octet-stream' };
    const source = messageIdOf(await publish(inbox.url, { body, headers }));
    await inbox.received(1);
    const page = await openConsole({ at: `#/publish?message=${source}` });
    await page.getByText('The body is 5 bytes that are not text.').waitFor();
    await submit(page);
    const [, again] = await inbox.received(2);
    expect(again?.body).toEqual(Buffer.from(body));
    expect(again?.headers['content-type']).toBe('application/octet-stream');
    await shownMessage(page);
    await page.goBack();
    await page.getByRole('button', { name: 'Write another body' }).click();
    await page.getByLabel('Body').fill('words');
    await submit(page);
    const [, , third] = await inbox.received(3);
    expect(third?.body.toString()).toBe('words');
  });

  it('is not published with a hash instead of a redacted value', async () => {
    const inbox = receiver.inbox();
    const source = messageIdOf(
      await publish(inbox.url, {
        body: 'secret body',
        headers: { 'Svc-Forward-X-Secret': 's3', 'Svc-Redact-Fields': 'body,header[x-secret]' },
      }),
    );
    await inbox.received(1);
    const page = await openConsole({ at: `#/publish?message=${source}` });
    await page.getByLabel('Headers', { exact: true }).waitFor();
    await submit(page);
    await page
      .locator('.field .wrong')
      .getByText('The value of X-Secret is shown only as its hash.')
      .waitFor();
    await page.locator('.field .wrong').getByText('The body is shown only as its hash.').waitFor();
    expect(inbox.deliveries).toHaveLength(1);
    await page.getByLabel('Body').fill('new body');
    await page.getByLabel('Headers', { exact: true }).fill('X-Secret: s4');
    await submit(page);
    const [, second] = await inbox.received(2);
    expect(second?.body.toString()).toBe('new body');
    expect(second?.headers['x-secret']).toBe('s4');
  });

  it('is asked for again if it is missing', async () => {
    const page = await openConsole({
      at: '#/publish?message=msg_01M7W4BM2WG14BG3V1YN3YTREK',
      refusals: [404],
    });
    await page.getByRole('alert').getByText('There is no message').waitFor();
  });
});
