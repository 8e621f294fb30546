import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AwsServer } from '../../../../local/aws/server.ts';
import { startSecretsManager } from '../../../../local/secretsManager/secretsManager.ts';

let secrets: AwsServer;
let client: SecretsManagerClient;
const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));

beforeAll(async () => {
  secrets = await startSecretsManager(
    new Map([['master', 'the value']]),
    (error) => {
      throw error;
    },
    folder,
  );
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  client = new SecretsManagerClient({ endpoint: secrets.url, region: 'eu-central-1', credentials });
});

afterAll(async () => {
  client.destroy();
  await secrets.close();
  rmSync(folder, { recursive: true });
});

test('an unknown secret is not found', async () => {
  const reading = client.send(new GetSecretValueCommand({ SecretId: 'other' }));
  await expect(reading).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('certificates are files that are read at each call', async () => {
  const read = (name: string) => client.send(new GetSecretValueCommand({ SecretId: `tls/${name}.pem` }));
  for (const text of ['one', 'two']) {
    writeFileSync(join(folder, 'acme.pem'), text);
    expect(await read('acme')).toMatchObject({ SecretString: text });
  }
  writeFileSync(join(folder, '..', 'svc-outside.pem'), 'outside');
  for (const name of ['other', '../svc-outside', '']) {
    await expect(read(name)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  }
  rmSync(join(folder, '..', 'svc-outside.pem'));
});

test('a file that is too large for a secret or cannot be read is refused', async () => {
  const read = (name: string) => client.send(new GetSecretValueCommand({ SecretId: `tls/${name}.pem` }));
  writeFileSync(join(folder, 'large.pem'), 'x'.repeat(65_537));
  await expect(read('large')).rejects.toThrow('The file has more than 65536 bytes.');
  mkdirSync(join(folder, 'folder.pem'));
  await expect(read('folder')).rejects.toThrow('The file cannot be read: EISDIR');
});
