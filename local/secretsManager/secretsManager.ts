/** The stand-in for AWS Secrets Manager: reads and replaces secrets. */
import * as z from 'zod/mini';
import { AwsError } from '../aws/awsError.ts';
import { checkedOperations, type Operation } from '../aws/operation.ts';
import { startJsonServer, type AwsServer } from '../aws/server.ts';
import { tlsFile } from './tlsFiles.ts';

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

const operations = new Map<string, Operation<Secrets>>([
  [
    'GetSecretValue',
    operation(z.object({ SecretId: z.string() }), (secrets, { SecretId }) => {
      const SecretString = valueOf(secrets, SecretId);
      return { Name: SecretId, SecretString, VersionStages: ['AWSCURRENT'] };
    }),
  ],
  [
    'PutSecretValue',
    operation(
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
  ],
]);

/** @throws AwsError */
function valueOf({ values, tlsFolder }: Secrets, name: string): string {
  const value = values.get(name) ?? tlsFile(tlsFolder, name);
  if (value !== undefined) return value;
  throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
}
