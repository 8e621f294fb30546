/** `svc-queue password`: the operator's login for the management API. */
import { randomBytes } from 'node:crypto';
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { readLogin } from '../../operate/managementApi.ts';
import { parsePassword } from '../../operate/options.ts';
import { runCommand } from '../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const { isNew, isJson, ...deployment } = parsePassword(args);
  return runCommand(async () => {
    const { client, id, login: before } = await readLogin(deployment);
    const login = isNew ? { ...before, password: randomBytes(32).toString('base64url') } : before;
    if (isNew) {
      await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: JSON.stringify(login) }));
      console.error(
        'The new password is valid within a minute. The old one is valid for at most a minute longer.',
      );
    }
    if (isJson) console.log(JSON.stringify(login, undefined, 2));
    else console.log(`SVC_MANAGEMENT_USER=${login.username}\nSVC_MANAGEMENT_PASSWORD=${login.password}`);
    return 0;
  });
}
