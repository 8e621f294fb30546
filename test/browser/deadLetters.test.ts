import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, deadLettered, listDlq, ok, unique } from '../support/api.ts';
import { barriersOf, openConsole } from '../support/browser.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

interface Mendable extends Inbox {
  mend(): void;
}

function broken(status = 500, body = 'out of order'): Mendable {
  let isMended = false;
  const inbox = receiver.inbox((_delivery, response) => {
    if (isMended) response.writeHead(200).end();
    else response.writeHead(status, { 'x-why': 'because' }).end(body);
  });
  return {
    ...inbox,
    mend: () => {
      isMended = true;
    },
  };
}

async function deadLetterAttempt(inbox: Inbox, count: number, label: string): Promise<void> {
  const headers = { 'Svc-Retries': '0', 'Svc-Label': label };
  const body = Array.from({ length: count }, () => ({ destination: inbox.url, headers, body: 'work' }));
  await ok(api('POST', '/v2/batch', { body }));
  await deadLettered({ label, count: 100 }, Math.min(count, 100));
}

const main = (page: Page) => page.locator('main');
const rows = (page: Page) =>
  page.getByRole('table', { name: 'Dead letters, the newest first' }).locator('tbody tr');

describe('A failed message', () => {
  it('appears, says why, and is delivered when it is retried after its receiver is repaired', async () => {
    const account = await makeAccount();
    const inbox = broken(503, '{"error":"the database is away"}');
    const page = await openConsole({ at: '#/dead-letters', token: account.token });
    await page.getByText('No dead letters.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const messageId = messageIdOf(
      await publishAs(account, inbox.url, {
        body: '{"order":4711}',
        headers: {
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Forward-X-Tenant': 'acme',
          'Svc-Label': 'orders',
        },
      }),
    );
    await rows(page).getByText('the database is away').waitFor();
    expect(await rows(page).getByText('503', { exact: true }).count()).toBe(1);
    await page.getByRole('link', { name: inbox.url }).click();
    await page.getByRole('heading', { name: /^dlq_/, level: 1 }).waitFor();
    await page.getByText(`POST ${inbox.url}`, { exact: true }).waitFor();
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('"the database is away"').waitFor();
    expect(await why.getByText('because').count()).toBe(1);
    const happened = page.getByRole('region', { name: 'History' });
    await happened.getByText('Attempt 2 of 2: 503').waitFor();
    await happened.getByText('Attempt 1 of 2: 503').waitFor();
    const request = page.getByRole('region', { name: 'Request' });
    await request.getByText('"order": 4711').waitFor();
    await request.getByText('acme').waitFor();
    await page.getByRole('link', { name: messageId }).waitFor();
    expect(await barriersOf(page)).toEqual([]);

    inbox.mend();
    await page.getByRole('button', { name: 'Retry it…' }).click();
    await page.getByRole('dialog', { name: 'Retry 1 dead letter?' }).waitFor();
    await page.getByText('Change settings').click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Retry 1 dead letter' }).click();
    await page.getByText('1 dead letter sent again.').waitFor();
    await page.getByText('delivered').first().waitFor();
    const [, sent] = /#\/messages\/(msg_\w+)$/.exec(page.url()) ?? [];
    expect(sent).not.toBe(messageId);
    const [, , last] = await inbox.received(3);
    expect(last?.headers['svc-message-id'] ?? last?.headers['upstash-message-id']).toBe(sent);
    await page.goto(`${service.url}/console#/dead-letters`);
    await page.getByText('No dead letters.').waitFor();
  });

  it('shows only the hash of a redacted value, and the size of a binary body', async () => {
    const label = unique('redacted');
    const inbox = broken();
    await publish(inbox.url, {
      body: 'secret',
      headers: {
        'Svc-Retries': '0',
        'Svc-Label': label,
        'Svc-Redact-Fields': 'body,header[x-key]',
        'Svc-Forward-X-Key': 'secret',
      },
    });
    const [one] = await deadLettered({ label }, 1);
    const page = await openConsole({ at: `#/dead-letters/${one?.dlqId}` });
    await page.getByText('REDACTED:').first().waitFor();
    expect(await page.getByText('REDACTED:').count()).toBe(2);
    expect(await main(page).textContent()).not.toContain('secret');

    const binary = unique('binary');
    const headers = { 'Svc-Retries': '0', 'Svc-Label': binary };
    await publish(inbox.url, { body: new Uint8Array([0, 255, 254]), headers });
    const [other] = await deadLettered({ label: binary }, 1);
    await page.goto(`${service.url}/console#/dead-letters/${other?.dlqId}`);
    await page.getByText('3 bytes of').waitFor();
  });

  it('is retried with other settings, and an error is shown under its field before anything is sent', async () => {
    const label = unique('changed');
    const inbox = broken();
    await deadLetterAttempt(inbox, 1, label);
    inbox.mend();
    const page = await openConsole({ at: `#/dead-letters?label=${label}`, refusals: [400] });
    await page.getByRole('button', { name: 'Retry the 1 match…' }).click();
    await page.getByText(`Filter: label ${label}.`).waitFor();
    await page.getByText('Change settings').click();
    await page.getByLabel('Timeout').fill('abc');
    await page.getByLabel('Method').selectOption('PUT');
    await page.getByLabel('Labels').fill(`${label}, größer`);
    await page.getByRole('button', { name: 'Retry 1 dead letter' }).click();
    // The form keeps its input. The wrong field has the focus and the reason.
    const timeout = page.getByLabel('Timeout');
    await page.getByText('Timeout is "abc"').waitFor();
    expect(await timeout.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(':focus').getAttribute('id')).toBe(await timeout.getAttribute('id'));
    expect(await page.getByRole('dialog').textContent()).not.toContain('Svc-Timeout');
    expect(await page.getByLabel('Method').inputValue()).toBe('PUT');
    expect(await barriersOf(page)).toEqual([]);
    expect((await listDlq({ label })).messages).toHaveLength(1);
    expect(inbox.deliveries).toHaveLength(1);
    await timeout.fill('30s');
    await page.getByText('Timeout is "abc"').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry 1 dead letter' }).click();
    const [, delivery] = await inbox.received(2);
    expect(delivery?.method).toBe('PUT');
    await page.getByText('1 dead letter sent again.').waitFor();
    const { messages } = listOf(
      await ok(api('GET', `/v2/messages?state=ALL&label=${encodeURIComponent('größer')}`)),
    );
    expect(messages).toHaveLength(1);
  });
});

const listOf = (page: unknown): { readonly messages: readonly unknown[] } => {
  if (typeof page !== 'object' || page === null || !('messages' in page) || !Array.isArray(page.messages)) {
    throw new Error(JSON.stringify(page));
  }
  return { messages: page.messages };
};

describe('Many failed messages', () => {
  it('are grouped by host and status, and all matching ones are retried', async () => {
    const account = await makeAccount();
    const [mended, still] = [broken(500), broken(503)];
    const headers = { 'Svc-Retries': '0' };
    await Promise.all([
      ...Array.from({ length: 12 }, () => publishAs(account, mended.url, { headers })),
      ...Array.from({ length: 3 }, () => publishAs(account, still.url, { headers })),
    ]);
    const page = await openConsole({ at: '#/dead-letters', token: account.token });
    await page.getByText('15 by host and status').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const { host } = new URL(mended.url);
    const group = page
      .getByRole('table', { name: 'Dead letters by host and status' })
      .getByRole('row', { name: /^500/ });
    await group.getByText('12', { exact: true }).waitFor();
    await group.getByRole('link', { name: host }).click();
    await page.getByRole('button', { name: 'Retry the 12 matches…' }).waitFor();
    expect(new URL(page.url()).hash).toBe(
      `#/dead-letters?host=${encodeURIComponent(host)}&responseStatus=500`,
    );
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(12);

    mended.mend();
    await page.getByRole('button', { name: 'Retry the 12 matches…' }).click();
    await page.getByRole('dialog', { name: 'Retry 12 dead letters?' }).waitFor();
    await page.getByText(`Filter: host ${host}, status 500.`).waitFor();
    await page.getByRole('button', { name: 'Retry 12 dead letters' }).click();
    await mended.received(24);
    await page.getByText('12 dead letters sent again.').waitFor();
    await page.getByText('No dead letter matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Retry all 3…' }).waitFor();
    // The previous list may still be shown.
    await expect.poll(() => rows(page).count(), { timeout: limitForHangsMs }).toBe(3);
  });

  it('are retried slowly, with a flow-control key that the dialogue creates and names', async () => {
    const label = unique('slow');
    const inbox = broken();
    await deadLetterAttempt(inbox, 3, label);
    inbox.mend();
    const page = await openConsole({ at: `#/dead-letters?label=${label}` });
    await page.getByRole('button', { name: 'Retry the 3 matches…' }).click();
    await page.getByLabel('Maximum per second').fill('1');
    const key = await page.getByText('They get the flow-control key').locator('code').innerText();
    expect(key).toMatch(/^retry-[\d-]+$/);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Retry 3 dead letters' }).click();
    await inbox.received(6);
    const { rateMax, ratePeriod } = z
      .object({ rateMax: z.number(), ratePeriod: z.number() })
      .parse(await ok(api('GET', `/v2/flowControl/${key}`)));
    expect([rateMax, ratePeriod]).toEqual([1, 1]);
  });

  it('are deleted if they are selected', async () => {
    const label = unique('selected');
    await deadLetterAttempt(broken(), 3, label);
    const page = await openConsole({ at: `#/dead-letters?label=${label}` });
    await rows(page).nth(2).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).click();
    await rows(page).nth(1).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Delete 2 selected…' }).click();
    await page.getByRole('dialog', { name: 'Delete 2 dead letters?' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect((await listDlq({ label })).messages).toHaveLength(3);
    const kept = (await listDlq({ label })).messages[1]?.dlqId;
    await page.getByRole('button', { name: 'Delete 2 selected…' }).click();
    await page.getByRole('button', { name: 'Delete 2 dead letters' }).click();
    await page.getByText('2 dead letters deleted.').waitFor();
    expect((await listDlq({ label })).messages.map(({ dlqId }) => dlqId)).toEqual([kept]);
  });

  it('stay selected for an open dialogue, even when they leave the list', async () => {
    const label = unique('gone');
    await deadLetterAttempt(broken(), 3, label);
    const [first] = (await listDlq({ label })).messages;
    const page = await openConsole({ at: `#/dead-letters?label=${label}` });
    await rows(page).nth(2).waitFor();
    await rows(page).nth(0).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Delete 1 selected…' }).click();
    await page.getByRole('dialog', { name: 'Delete 1 dead letter?' }).waitFor();
    await ok(api('DELETE', `/v2/dlq/${first?.dlqId}`));
    await rows(page).nth(2).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete 1 dead letter' }).click();
    await page.getByText('0 dead letters deleted, 1 not.').waitFor();
    expect((await listDlq({ label })).messages).toHaveLength(2);
  });

  it('are handled a hundred at a time until it is stopped', async () => {
    const label = unique('stopped');
    await deadLetterAttempt(broken(), 201, label);
    const page = await openConsole({ at: `#/dead-letters?label=${label}` });
    await page.getByRole('button', { name: 'Delete the 201 matches…' }).click();
    // The second request is delayed like one to a distant service.
    let letGo = (): void => undefined;
    const held = new Promise<void>((done) => {
      letGo = done;
    });
    await page.route(/\/v2\/dlq\?.*cursor=/, async (route) => {
      if (route.request().method() === 'DELETE') await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Delete 201 dead letters' }).click();
    await page.getByText('100 of 201 dead letters deleted').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stop' }).click();
    letGo();
    await page.getByText('200 dead letters deleted; it was stopped then.').waitFor();
    expect((await listDlq({ label })).messages).toHaveLength(1);
  });
});
