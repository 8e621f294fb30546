import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { barriersOf, isTooWide, openConsole, wrongUnder } from '../support/browser.ts';
import { call, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** Does not fire while the tests run. */
const rarely = '0 0 29 2 *';

async function schedule(
  destination: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array<ArrayBuffer> = 'tick',
): Promise<string> {
  const id = unique('schedule');
  const authorization = `Bearer ${service.token}`;
  const all = { authorization, 'Svc-Cron': rarely, 'Svc-Schedule-Id': id, ...headers };
  const { status, json } = await call(`/v2/schedules/${destination}`, { method: 'POST', body, headers: all });
  if (status !== 200) throw new Error(`Status ${status}: ${JSON.stringify(json)}`);
  return id;
}

const shape = z.looseObject({
  cron: z.string(),
  isPaused: z.boolean(),
  nextScheduleTime: z.optional(z.number()),
});
const get = async (id: string) => shape.parse(await ok(api('GET', `/v2/schedules/${id}`)));

describe('A schedule', () => {
  it('is created with an expression that is explained during input', async () => {
    const inbox = receiver.inbox();
    const page = await openConsole({ at: '#/schedules', refusals: [400, 404] });
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'New schedule' }).click();
    const expression = page.getByLabel('Expression');
    // The viewer’s zone is filled in.
    expect(await expression.inputValue()).toBe('CRON_TZ=Europe/Berlin 0 9 * * MON-FRI');
    await page.getByText('At 09:00, Monday through Friday.').waitFor();

    await expression.fill('61 9 * * *');
    await page.getByText('expression is "61 9 * * *": in the minute field, "61" is out of range.').waitFor();
    expect(await expression.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    await expression.fill('CRON_TZ=Mars/Olympus 0 9 * * *');
    await page.getByText('the zone "Mars/Olympus" is unknown').waitFor();

    await expression.fill('CRON_TZ=America/New_York 30 9 29 2 *');
    await page.getByText('At 09:30, on day 29 of the month, only in February.').waitFor();
    const fires = page.getByRole('list').filter({ hasText: 'America/New_York' }).getByRole('listitem');
    expect(await fires.count()).toBe(5);
    expect(await fires.first().textContent()).toMatch(
      /29 Feb 20\d\d, 15:30.*29 Feb 20\d\d, 09:30 America\/New_York/,
    );
    expect(await barriersOf(page)).toEqual([]);

    const id = unique('made');
    await page.getByLabel('Id', { exact: true }).fill(id);
    await page.getByLabel('Destination').fill(inbox.url);
    await page
      .getByLabel('Headers', { exact: true })
      .fill('X-Tenant: acme\nSvc-Redact-Fields: header[x-key]\nX-Key: secret');
    await page.getByLabel('Body').fill('{"report":"daily"}');
    await page.getByLabel('Method').selectOption('PUT');
    await page.getByLabel('Retries', { exact: true }).fill('2');
    await page.getByLabel('Labels').fill('nächtlich, reports');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: id, level: 1, exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#/schedules/${id}`);
    expect(await get(id)).toMatchObject({
      cron: 'CRON_TZ=America/New_York 30 9 29 2 *',
      destination: inbox.url,
      method: 'PUT',
      retries: 2,
      labels: ['nächtlich', 'reports'],
      header: {
        'X-Tenant': ['acme'],
        'X-Key': [expect.stringMatching(/^REDACTED:/)],
        'Content-Type': ['application/json'],
      },
      body: '{"report":"daily"}',
    });
    expect(await barriersOf(page)).toEqual([]);
  });

  it('that is refused shows why, and the input is kept', async () => {
    const page = await openConsole({ at: '#/schedules/new', refusals: [400, 403] });
    await page.getByLabel('Destination').fill('http://10.0.0.1/');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Destination').getByText('which is not a public address').waitFor();
    await page.getByLabel('Destination').fill('https://example.com/');
    await page.getByLabel('Headers', { exact: true }).fill('no header');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Headers').getByText('“no header” is not a header').waitFor();
    await page.getByLabel('Headers', { exact: true }).fill('');
    await page.getByLabel('Retries', { exact: true }).fill('many');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Retries').getByText('Retries is "many"').waitFor();
    expect(await page.getByLabel('Destination').inputValue()).toBe('https://example.com/');
  });

  it('is not overwritten by a new one', async () => {
    const id = await schedule('https://example.com/');
    const before = await get(id);
    const page = await openConsole({ at: '#/schedules/new' });
    await page.getByLabel('Id', { exact: true }).fill(id);
    await page.getByLabel('Destination').fill('https://example.com/other');
    await page.getByRole('button', { name: 'Create' }).click();
    await wrongUnder(page, 'Id').getByText(`There is a schedule “${id}” already.`).waitFor();
    expect(await get(id)).toEqual(before);
  });

  it('is paused, resumed and deleted', async () => {
    const id = await schedule('https://example.com/');
    const page = await openConsole({ at: '#/schedules' });
    await page.getByRole('link', { name: id }).click();
    await page.getByRole('button', { name: `Pause ${id}` }).click();
    await page.getByText('” is paused.').waitFor();
    await page.getByText('It does not fire at these times while it is paused.').waitFor();
    expect(await get(id)).toMatchObject({ isPaused: true });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await get(id)).toMatchObject({ isPaused: false });

    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog', { name: 'Delete 1 schedule?' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText(`The schedule ${id} has been deleted.`).waitFor();
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
    expect((await api('GET', `/v2/schedules/${id}`)).status).toBe(404);
  });

  it('is run at once, and followed to its message', async () => {
    const inbox = receiver.inbox();
    const id = await schedule(inbox.url);
    const page = await openConsole({ at: `#/schedules/${id}` });
    await page.getByRole('button', { name: 'Run now' }).click();
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.toString()).toBe('tick');
    await page.getByText('delivered').first().waitFor();
    expect(new URL(page.url()).hash).toBe(`#/messages/${delivery?.headers['svc-message-id']}`);
  });
});

describe('An edited schedule', () => {
  it('keeps everything that was not changed, including hidden values', async () => {
    const inbox = receiver.inbox();
    const callbacks = receiver.inbox();
    const { origin, pathname } = new URL(inbox.url);
    const id = await schedule(
      `${origin.replace('//', '//user:secret@')}${pathname}`,
      {
        'Content-Type': 'text/plain',
        'Svc-Redact-Fields': 'body,header[x-key]',
        'Svc-Forward-X-Key': 'secret',
        'Svc-Forward-X-Tenant': 'acme',
        'Svc-Label': 'nightly',
        'Svc-Delay': '1s',
        'Svc-Queue-Name': 'reports',
        'Svc-Flow-Control-Key': 'tenant',
        'Svc-Flow-Control-Value': 'parallelism=2, rate=5, period=1m',
        'Svc-Callback': callbacks.url.replace('//', '//user:secret@'),
        'Svc-Callback-Forward-X-Trace': '7',
      },
      'secret',
    );
    const before = await get(id);
    const page = await openConsole({ at: `#/schedules/${id}` });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByText('The body is redacted or not text, so it is not shown.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Expression').fill('0 1 29 2 *');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The schedule has been saved.').waitFor();
    const after = await get(id);
    expect(after).toEqual({
      ...before,
      cron: '0 1 29 2 *',
      cronInWords: 'At 01:00, on day 29 of the month, only in February.',
      nextScheduleTime: after.nextScheduleTime,
    });

    await page.getByRole('button', { name: 'Run now' }).click();
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.toString()).toBe('secret');
    const authorization = `Basic ${Buffer.from('user:secret').toString('base64')}`;
    expect(delivery?.headers).toMatchObject({ 'x-key': 'secret', 'x-tenant': 'acme', authorization });
    const [callback] = await callbacks.received(1);
    expect(callback?.headers).toMatchObject({ 'x-trace': '7', authorization });
  });

  it('has the changes, and no longer what was removed', async () => {
    const id = await schedule('https://example.com/a', {
      'Content-Type': 'text/plain',
      'Svc-Forward-X-Tenant': 'acme',
      'Svc-Forward-X-Old': '1',
      'Svc-Label': 'nightly',
      'Svc-Callback': 'https://example.com/done',
    });
    const page = await openConsole({ at: `#/schedules/${id}/edit` });
    await page.getByLabel('Destination').fill('https://example.com/b');
    await page
      .getByLabel('Headers', { exact: true })
      .fill('content-type: text/csv\nX-Tenant: emca\nX-New: 1');
    await page.getByLabel('Body').fill('a,b');
    await page.getByLabel('Labels').fill('');
    await page.getByLabel('Callback', { exact: true }).fill('');
    await page.getByLabel('Timeout').fill('10s');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The schedule has been saved.').waitFor();
    const after = await get(id);
    expect(after).toMatchObject({
      destination: 'https://example.com/b',
      header: { 'Content-Type': ['text/csv'], 'X-Tenant': ['emca'], 'X-New': ['1'] },
      body: 'a,b',
      timeout: 10,
    });
    expect(after['header']).not.toHaveProperty('X-Old');
    expect(after).not.toHaveProperty('label');
    expect(after).not.toHaveProperty('callback');
  });

  it('keeps a binary body until another one is written', async () => {
    const body = new Uint8Array([0, 255, 254]);
    const id = await schedule('https://example.com/', {}, body);
    const page = await openConsole({ at: `#/schedules/${id}/edit` });
    await page.getByLabel('Labels').fill('changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The schedule has been saved.').waitFor();
    expect(await get(id)).toMatchObject({
      label: 'changed',
      bodyBase64: Buffer.from(body).toString('base64'),
    });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('checkbox', { name: 'Replace the body' }).click();
    await page.getByLabel('Body').fill('text');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: id, level: 1, exact: true }).waitFor();
    expect(await get(id)).toMatchObject({ body: 'text' });
  });
});

it('A schedule with the name of the form’s address can be viewed', async () => {
  await schedule('https://example.com/', { 'Svc-Schedule-Id': 'new' });
  const page = await openConsole({ at: '#/schedules' });
  await page.getByRole('link', { name: 'new', exact: true }).click();
  await page.getByRole('heading', { name: 'new', level: 1, exact: true }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
});

it('The page of a schedule says who changed what', async () => {
  const id = await schedule('https://example.com/ticks', { 'Svc-Label': 'first' });
  // A group of the same name has other changes.
  await ok(
    api('POST', `/v2/topics/${id}/endpoints`, { body: { endpoints: [{ url: 'https://example.com' }] } }),
  );
  await ok(api('PATCH', `/v2/schedules/${id}`, { body: { headers: { 'Svc-Label': '東京' } } }));
  await ok(api('POST', `/v2/schedules/${id}/pause`));
  const page = await openConsole({ at: `#/schedules/${id}`, viewport: { width: 390, height: 800 } });
  const changes = page.getByRole('table', { name: 'Changes, the newest first' });
  await changes.getByRole('row', { name: 'schedule.pause' }).waitFor();
  const changed = changes.getByRole('row', { name: 'schedule.change' });
  expect(await changed.locator('del').allTextContents()).toContain('first');
  expect(await changed.locator('ins').allTextContents()).toContain('東京');
  expect(await changes.locator('tbody tr').count()).toBe(3);
  expect([await barriersOf(page), await isTooWide(page)]).toEqual([[], false]);
  await ok(api('DELETE', `/v2/schedules/${id}`));
});
