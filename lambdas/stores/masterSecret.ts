import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { settings } from '../settings.ts';

const client = new SecretsManagerClient({
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000 },
});

async function read(): Promise<string> {
  const { SecretString } = await client.send(
    new GetSecretValueCommand({ SecretId: settings.masterSecretId }),
  );
  if (SecretString === undefined || SecretString.length < 32) {
    throw new Error('The master secret must be a text of at least 32 characters.');
  }
  return SecretString;
}

let secret: Promise<string> | undefined;

/** The deployment's master secret: read once for the life of the process, and again after a failure. */
export function masterSecret(): Promise<string> {
  secret ??= read().catch((error: unknown) => {
    secret = undefined;
    throw error;
  });
  return secret;
}
