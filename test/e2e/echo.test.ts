import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';

const logs = z.object({ logs: z.array(z.looseObject({ state: z.string() })) });

/** The entries of a message, once it has ended. */
async function logOf(messageId: string) {
  const { logs: all } = await eventually(
    async () => logs.parse(await ok(api('GET', `/v2/logs?messageId=${messageId}`))),
    (page) => page.logs.some(({ state }) => ['DELIVERED', 'FAILED'].includes(state)),
  );
  return all;
}

const seenIn = (entry: Readonly<Record<string, unknown>> | undefined): unknown =>
  JSON.parse(Buffer.from(String(entry?.['responseBody']), 'base64').toString());

describe('the echo', () => {
  it('answers with the request, which the log keeps', async () => {
    const url = 'https://echo.invalid/orders/東京?a=1';
    const headers = { 'Content-Type': 'application/json', 'Svc-Forward-X-Order': '7' };
    const id = messageIdOf(await publish(url, { headers, body: '{"city":"東京"}' }));
    const delivered = (await logOf(id)).find(({ state }) => state === 'DELIVERED');
    expect(delivered).toMatchObject({ responseStatus: 200 });
    expect(seenIn(delivered)).toMatchObject({
      method: 'POST',
      url: 'https://echo.invalid/orders/%E6%9D%B1%E4%BA%AC?a=1',
      headers: { 'X-Order': ['7'], 'Svc-Signature': [expect.stringMatching(/^ey/)] },
      body: '{"city":"東京"}',
    });
  });

  it('answers with the status in its path', async () => {
    const headers = { 'Svc-Retries': '1', 'Svc-Retry-Delay': '0' };
    const id = messageIdOf(await publish('https://echo.invalid/status/503', { headers }));
    const states = (await logOf(id)).map(({ state, responseStatus }) => [state, responseStatus]);
    expect(states.filter(([state]) => state === 'ERROR')).toEqual([
      ['ERROR', 503],
      ['ERROR', 503],
    ]);
    expect(states).toContainEqual(['FAILED', undefined]);
  });

  // The emulator reads bodies as text, and replaces invalid bytes.
  it.runIf(service.target === 'local')('shows bytes in base64', async () => {
    const bytes = messageIdOf(await publish('http://echo.invalid', { body: new Uint8Array([0xff, 0]) }));
    expect(seenIn((await logOf(bytes))[0])).toMatchObject({ bodyBase64: '/wA=' });
  });

  it('hides what is redacted', async () => {
    const hidden = messageIdOf(
      await publish('https://echo.invalid/', {
        headers: { 'Svc-Redact-Fields': 'body,header[x-secret]', 'Svc-Forward-X-Secret': 's3cret' },
        body: 's3cret',
      }),
    );
    expect(JSON.stringify(seenIn((await logOf(hidden))[0]))).not.toContain('s3cret');
  });

  it.each([
    'https://echo.invalid.example.com/',
    'https://my-echo.invalid/',
    'https://echo.invalid@127.0.0.1/',
  ])('is not %s', async (url) => {
    const answer = await publish(url, { headers: { 'Svc-Retries': '0' } });
    if (answer.status >= 400) return;
    expect((await logOf(messageIdOf(answer))).map(({ state }) => state)).toContain('FAILED');
  });
});
