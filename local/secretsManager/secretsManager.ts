/** The stand-in for AWS Secrets Manager: reads and replaces secrets. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { AwsError } from '../aws/awsError.ts';
import { checkedOperations, startJsonServer, type AwsServer, type Operation } from '../aws/server.ts';
import { isSystemError } from '../stage/stageError.ts';

interface Secrets {
  readonly values: Map<string, string>;
  readonly tlsFolder: string | undefined;
}

export async function startSecretsManager(
  values: Map<string, string>,
  report: (error: unknown) => void,
  tlsFolder?: string,
): Promise<AwsServer> {
  return startJsonServer({
    version: '1.1',
    operations,
    contextOf: () => ({ values, tlsFolder }),
    unknownCode: 'InvalidRequestException',
    failureCode: 'InternalServiceError',
    report,
  });
}

const operation = checkedOperations<Secrets>('InvalidRequestException');

const operations = new Map<string, Operation<Secrets>>(
  Object.entries({
    GetSecretValue: operation(z.object({ SecretId: z.string() }), (secrets, { SecretId }) => {
      const SecretString = valueOf(secrets, SecretId);
      return { Name: SecretId, SecretString, VersionStages: ['AWSCURRENT'] };
    }),
    PutSecretValue: operation(
      z.object({
        SecretId: z.string(),
        SecretString: z.string(),
        ClientRequestToken: z.optional(z.string()),
      }),
      (secrets, { SecretId, SecretString, ClientRequestToken }) => {
        valueOf(secrets, SecretId);
        secrets.values.set(SecretId, SecretString);
        return { Name: SecretId, VersionId: ClientRequestToken };
      },
    ),
  }),
);

function valueOf({ values, tlsFolder }: Secrets, name: string): string {
  const value = values.get(name) ?? tlsFile(tlsFolder, name);
  if (value !== undefined) return value;
  throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
}

/**
 * The names of accounts' certificates. `*` is the name that an account gives. On the local stage they are
 * files.
 */
export const tlsSecrets = 'tls/*.pem';

/** The largest secret, in bytes ("AWS Secrets Manager quotas"). */
const mostBytes = 65_536;

/**
 * @returns undefined if the secret is not a certificate, or its file does not exist
 * @throws AwsError if the file cannot be read or is too large
 */
function tlsFile(folder: string | undefined, secretId: string): string | undefined {
  const [, name] = /^tls\/([A-Za-z0-9_-]{1,64})\.pem$/.exec(secretId) ?? [];
  if (folder === undefined || name === undefined) return undefined;
  const path = join(folder, `${name}.pem`);
  try {
    if (statSync(path).size > mostBytes)
      throw new AwsError('InvalidRequestException', `The file has more than ${mostBytes} bytes.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (!(error instanceof Error && 'code' in error) || error instanceof AwsError) throw error;
    throw new AwsError('AccessDeniedException', `The file cannot be read: ${String(error.code)}`);
  }
}
