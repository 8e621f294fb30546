import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readSettings } from '../../lib/settings.ts';
import { SvcQueue } from '../../lib/svcQueue.ts';
import { bundledProgram } from '../support/bundledProgram.ts';
import { cdkContext, properties, root, synthesizeOne } from './app.ts';
import { nameOf } from './roles.ts';
import { otherValues } from './variants.ts';

const certificates = join(root, 'test/support/certificates');
const authority = join(certificates, 'authority.pem');

const folder = mkdtempSync(join(tmpdir(), 'svc-extra-ca-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const functionShape = z.object({
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  Layers: z.array(z.unknown()).optional(),
});

describe('certificates of further authorities', () => {
  it('are in a layer that exactly the delivery functions have', () => {
    const { service } = synthesizeOne(otherValues);
    const having = properties(service, 'AWS::Lambda::Function', functionShape)
      .filter(({ Environment: { Variables }, Layers }) => 'NODE_EXTRA_CA_CERTS' in Variables || Layers)
      .map(({ Environment: { Variables }, Layers }) => [
        nameOf(Variables),
        Variables['NODE_EXTRA_CA_CERTS'],
        Layers?.length,
      ]);
    expect(having.sort()).toEqual(
      ['DeliverAlone', 'DeliverLong', 'DeliverShort', 'DeliverSlow'].map((name) => [
        name,
        '/opt/extra-ca.pem',
        1,
      ]),
    );
    service.resourceCountIs('AWS::Lambda::LayerVersion', 1);
  });

  it('are absent by default', () => {
    synthesizeOne().service.resourceCountIs('AWS::Lambda::LayerVersion', 0);
  });

  it('are a prop of the construct', () => {
    const app = new App({ context: cdkContext });
    expect(() => new SvcQueue(app, 'Queue', { extraCaCertificates: join(folder, 'missing.pem') })).toThrow(
      /^The props of SvcQueue are not right:\n- extraCaCertificates: must be a file that can be read \(ENOENT/,
    );
  });

  const pem = readFileSync(authority, 'utf8');
  it.each([
    ['is not there', () => join(folder, 'missing.pem'), 'a file that can be read (ENOENT'],
    ['is a folder', () => folder, 'a file that can be read (EISDIR'],
    ['is empty', () => file('empty.pem', ''), 'a file with certificates in PEM, and has none'],
    ['is not PEM', () => file('binary.der', '\u0030\u0082'), 'a file with certificates in PEM, and has none'],
    [
      'has an invalid certificate',
      () => file('broken.pem', `${pem}${pem.replace('MIIB', 'AAAA')}`),
      'a file with certificates in PEM, and number 2 cannot be read',
    ],
    [
      'has a private key',
      () => file('key.pem', pem + readFileSync(join(certificates, 'server.key'), 'utf8')),
      'a file without a private key',
    ],
    [
      'is larger than all public authorities',
      () => file('large.pem', pem.repeat(500)),
      'a file of at most 262144 bytes, and has ',
    ],
  ])('are refused where the file %s', (_title, path, text) => {
    const given = path();
    expect(() => readSettings(new App({ context: { extraCaCertificates: given } }))).toThrow(
      `\n- extraCaCertificates: must be ${text}`,
    );
  });

  it('let a delivery reach a host whose certificate only they sign', async () => {
    const server = createServer(
      {
        cert: readFileSync(join(certificates, 'server.pem')),
        key: readFileSync(join(certificates, 'server.key')),
      },
      (_request, response) => response.writeHead(202).end(),
    );
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const program = `
      import { createDeliveryClient } from './lambdas/delivery/client/deliveryClient.ts';
      import { parseAllowedDestinations } from './lambdas/destination/addresses.ts';
      const rules = { allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set() };
      const request = createDeliveryClient(rules, async () => [{ address: '127.0.0.1', family: 4 }]);
      const { status, error } = await request({
        url: 'https://private.example:${port}/', method: 'POST', headers: [], body: Buffer.from('x'),
        timeoutMs: 60_000, maxResponseBytes: 1_000,
      });
      console.log(JSON.stringify([status, error]));
      process.exit();
    `;
    const run = await bundledProgram(program);
    const deliver = async (env: Readonly<Record<string, string>>): Promise<unknown> =>
      JSON.parse(await run(env));
    try {
      expect(await deliver({ NODE_EXTRA_CA_CERTS: authority })).toEqual([202, null]);
      expect(await deliver({})).toEqual([0, expect.stringContaining('certificate')]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
