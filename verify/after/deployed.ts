/** Reads from a deployment's stacks their URLs, and the login of the management API. */
import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { OperateError } from '../../operate/operateError.ts';

/** @throws OperateError when there is no such stack */
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

/** Reads the login of the management API. */
export async function readLogin(
  client: SecretsManagerClient,
  SecretId: string,
): Promise<z.output<typeof credentials>> {
  const { SecretString = '{}' } = await client.send(new GetSecretValueCommand({ SecretId }));
  return credentials.parse(JSON.parse(SecretString));
}

/** Without the slash at its end. */
const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * The URL by which to reach a URL of AWS. An emulator has its APIs under other hosts: `SVC_VERIFY_FRONT` is a server that has each
 * below the host's name.
 */
export function reachable(url: string, front: string | undefined): string {
  if (front === undefined) return withoutSlash(url);
  const { host, pathname } = new URL(url);
  return withoutSlash(`${front}/${host}${pathname}`);
}
