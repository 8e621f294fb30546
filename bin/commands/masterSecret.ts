/** `svc-queue master-secret`: adds a new master secret beside the old one, and ends the overlap. */
import { randomBytes } from 'node:crypto';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import type { MasterSecret } from '../../lambdas/account/credentials.ts';
import { begin, end, parseMasterSecret } from '../../lambdas/account/masterSecret.ts';
import { OperateError } from '../../operate/operateError.ts';
import { parseMasterSecretCommand } from '../../operate/options.ts';
import { runCommand } from '../runCommand.ts';

const steps = {
  begin: {
    change: (secret: MasterSecret) => begin(secret, randomBytes(32).toString('hex')),
    done: 'The new master secret is valid within five minutes, and the old one stays valid until you end it.',
  },
  end: {
    change: (secret: MasterSecret) => end(secret),
    done: 'The old master secret is valid for at most five minutes.',
  },
} as const;

/** @throws OperateError if the secret does not exist */
async function readSecret(client: SecretsManagerClient, SecretId: string, region: string): Promise<string> {
  try {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
    return SecretString.trim();
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw new OperateError(`There is no secret ${SecretId} in ${region}: ${error.message}`);
  }
}

/** @throws OperateError if the text is not a master secret, or for a step in the wrong order */
function changed(text: string, change: (secret: MasterSecret) => MasterSecret): string {
  try {
    return JSON.stringify(change(parseMasterSecret(text)));
  } catch (error) {
    throw new OperateError(error instanceof Error ? error.message : String(error));
  }
}

export function run(args: readonly string[]): Promise<void> {
  const { step, name, region } = parseMasterSecretCommand(args);
  return runCommand(async () => {
    // Hides the SDK's warning about old Node versions from operators.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
    const client = new SecretsManagerClient({ ...clientOptions('quick'), region });
    const SecretId = `${name}/master`;
    const { change, done } = steps[step];
    const SecretString = changed(await readSecret(client, SecretId, region), change);
    await client.send(new PutSecretValueCommand({ SecretId, SecretString }));
    console.log(done);
    return 0;
  });
}
