import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { callManagementApi } from '../../../operate/managementApi.ts';

const certificate = (name: string): Buffer =>
  readFileSync(new URL(`../../support/certificates/${name}`, import.meta.url));

it('An API with the certificate of a private authority is refused with the variable that takes it', async () => {
  const server = createServer({ key: certificate('server.key'), cert: certificate('server.pem') });
  onTestFinished(() => {
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const api = { url: `https://127.0.0.1:${port}`, username: 'admin', password: '東京' };
  await expect(callManagementApi(api, { path: 'users' })).rejects.toThrow(
    /does not answer: .* Set NODE_EXTRA_CA_CERTS to the file with the certificate of its authority\.$/,
  );
});
