import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { service } from '../support/service.ts';

/** `server.test.ts` tests `--public-url` on one machine. */

/** The domain has no name server here, so the host is a header. */
const ask = (
  path: string,
  token: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { awsUrl = '', domain = '' } = service.deployment ?? {};
    const [host = ''] = domain.split('/');
    const headers = { host, authorization: `Bearer ${token}` };
    const asked = request(new URL(path, awsUrl), { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      });
    });
    asked.on('error', reject).end();
  });

describe.runIf(service.target === 'deployed')('a custom domain with a base path', () => {
  it('leads to the API below the path, and nowhere else', async () => {
    const { domain = '', domainRegion: region } = service.deployment ?? {};
    const [, base = ''] = domain.split('/');
    const { token } = await makeAccount({ region });
    const { status, text } = await ask(`/${base}/v2/keys`, token);
    expect({ status, text }).toMatchObject({ status: 200 });
    expect(z.object({ current: z.string() }).parse(JSON.parse(text)).current).toMatch(/^whsec_/);
    expect((await ask('/v2/keys', token)).status).not.toBe(200);
  });
});
