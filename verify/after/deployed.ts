/** Reads URLs and the management API's login from a deployment's stacks. */
import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { OperateError } from '../../operate/operateError.ts';

/** @throws OperateError if the stack does not exist */
export async function outputsOf(
  client: CloudFormationClient,
  StackName: string,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    return Object.fromEntries(
      (Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
    );
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ValidationError')) throw error;
    throw new OperateError(
      `There is no stack ${StackName}: ${error.message}. Deploy first: npx svc-queue deploy.`,
    );
  }
}

const credentials = z.object({ username: z.string(), password: z.string() });

export async function readLogin(
  client: SecretsManagerClient,
  SecretId: string,
): Promise<z.output<typeof credentials>> {
  const { SecretString = '{}' } = await client.send(new GetSecretValueCommand({ SecretId }));
  return credentials.parse(JSON.parse(SecretString));
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * The URL at which a URL of AWS can be reached. On an emulator, the server `SVC_VERIFY_FRONT` has each API at a path that
 * begins with its host name.
 */
export function reachable(url: string, front: string | undefined): string {
  if (front === undefined) return withoutSlash(url);
  const { host, pathname } = new URL(url);
  return withoutSlash(`${front}/${host}${pathname}`);
}
