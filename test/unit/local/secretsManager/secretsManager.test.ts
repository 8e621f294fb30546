import {
  GetSecretValueCommand,
  ListSecretsCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AwsServer } from '../../../../local/aws/server.ts';
import { startSecretsManager } from '../../../../local/secretsManager/secretsManager.ts';

let secrets: AwsServer;
let client: SecretsManagerClient;

beforeAll(async () => {
  secrets = await startSecretsManager(new Map([['master', 'the value']]), (error) => {
    throw error;
  });
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  client = new SecretsManagerClient({ endpoint: secrets.url, region: 'eu-central-1', credentials });
});

afterAll(async () => {
  client.destroy();
  await secrets.close();
});

test('a secret is read by its name', async () => {
  const read = await client.send(new GetSecretValueCommand({ SecretId: 'master' }));
  expect(read).toMatchObject({ Name: 'master', SecretString: 'the value' });
});

test('an unknown secret is not found', async () => {
  const reading = client.send(new GetSecretValueCommand({ SecretId: 'other' }));
  await expect(reading).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('anything but reading is refused', async () => {
  await expect(client.send(new ListSecretsCommand({}))).rejects.toMatchObject({
    name: 'InvalidRequestException',
  });
});
