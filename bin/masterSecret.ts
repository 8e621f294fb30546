/** `npm run master-secret`: lets a new master secret follow the old one, and ends the overlap. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { clientOptions } from '../lambdas/clientOptions.ts';
import { begin, end, parseMasterSecret } from '../lambdas/domain/account/masterSecret.ts';

const usage = `Usage: npm run master-secret -- begin|end [--name Svc] [--region eu-central-1]

  begin   makes a new master secret; the old one stays good
  end     ends the old one
  --name, --region   of the deployment: its name, and its first region
`;

const steps = {
  begin: {
    change: (text: string) => begin(parseMasterSecret(text), randomBytes(32).toString('hex')),
    done: 'A new master secret holds within five minutes, and the old one stays good until you end it.',
  },
  end: {
    change: (text: string) => end(parseMasterSecret(text)),
    done: 'The old master secret is good for five minutes at most.',
  },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string', default: 'Svc' },
      region: { type: 'string', default: 'eu-central-1' },
      help: { type: 'boolean' },
    },
  });
  const [step, ...more] = positionals;
  if (values.help === true || (step !== 'begin' && step !== 'end') || more.length > 0) {
    console.log(usage);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  const client = new SecretsManagerClient({ ...clientOptions('quick'), region: values.region });
  const SecretId = `${values.name}/master`;
  const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
  const { change, done } = steps[step];
  await client.send(
    new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(change(SecretString.trim())) }),
  );
  console.log(done);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
