import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { clientOptions } from '../aws/clientOptions.ts';
import { prepareClient } from '../aws/functionClient.ts';
import { minuteMs } from '../shared/clock.ts';
import type { MasterSecret } from './credentials.ts';
import { TransientError } from '../error/transientError.ts';
import { parseMasterSecret, parseSecretJson } from './masterSecret.ts';
import { givenCredentials } from './givenCredentials.ts';
import { settings } from '../aws/settings.ts';
import { remembered, type Remembered } from '../table/remembered.ts';

const client = prepareClient('Secrets', new SecretsManagerClient({ ...clientOptions('quick') }));

/** If the secret is malformed, jobs are retried until an operator has corrected it. */
function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new TransientError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A secret that the process remembers. If Secrets Manager does not answer, the last known value is used. */
const secret = <T>(id: string, lifetimeMs: number, parse: (text: string) => T): Remembered<T> =>
  remembered({
    name: `the secret ${id}`,
    lifetimeMs,
    read: async () => {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
      if (SecretString === undefined) throw new TransientError(`The secret ${id} has no text.`);
      return parsed(SecretString, parse);
    },
  });

const master = secret(settings.masterSecretId, 5 * minuteMs, (text): MasterSecret => ({
  ...parseMasterSecret(text),
  given: givenCredentials(),
}));

export const masterSecret = master.get;
/** Read when a token is wrong, because the master secret may have changed. */
export const renewedMasterSecret = master.renewed;

const credentials = z.object({
  username: z.string().check(z.minLength(1)),
  password: z.string().check(z.minLength(16)),
});
export type ManagementCredentials = z.infer<typeof credentials>;

function parseCredentials(text: string): ManagementCredentials {
  const read = credentials.safeParse(parseSecretJson(text));
  if (read.success) return read.data;
  throw new Error(
    'The secret of the management API must be {"username", "password"}, the password of at least 16 characters.',
  );
}

const management = secret(settings.managementSecretId, minuteMs, parseCredentials);

export const managementCredentials = management.get;
export const renewedManagementCredentials = management.renewed;

/** @param version the id of the secret's version, so that a repeated call makes only one version */
export async function keepInSecret(arn: string, value: string, version: string): Promise<void> {
  await client.send(
    new PutSecretValueCommand({ SecretId: arn, SecretString: value, ClientRequestToken: version }),
  );
}
