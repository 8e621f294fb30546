import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { clientOptions } from '../lambdas/aws/clientOptions.ts';
import type { Deployment } from './environment.ts';
import { OperateError } from './operateError.ts';
import { outputsOf } from './stackResources.ts';

const credentials = z.object({ username: z.string(), password: z.string() });

export interface ManagementApi extends z.output<typeof credentials> {
  readonly url: string;
}

/** The variables that the local stage prints, and writes into its folder. */
const variables = z.object({
  SVC_MANAGEMENT_URL: z.url(),
  SVC_MANAGEMENT_USER: z.string().min(1),
  SVC_MANAGEMENT_PASSWORD: z.string().min(1),
});

function fromVariables(environment: Readonly<Record<string, string | undefined>>): ManagementApi | undefined {
  const given = variables.safeParse({ SVC_MANAGEMENT_USER: 'admin', ...environment }).data;
  return (
    given && {
      url: given.SVC_MANAGEMENT_URL,
      username: given.SVC_MANAGEMENT_USER,
      password: given.SVC_MANAGEMENT_PASSWORD,
    }
  );
}

/** Hides the SDK's warning about old Node versions from operators. */
function secretsIn(region: string): SecretsManagerClient {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  return new SecretsManagerClient({ ...clientOptions('quick'), region });
}

/**
 * @param deployment with its first region
 * @throws OperateError if there is no secret with the operator's login
 */
export async function readLogin({ name, region }: Deployment) {
  const client = secretsIn(region);
  const id = `${name}/management`;
  try {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return { client, id, login: credentials.parse(JSON.parse(SecretString)) };
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    throw new OperateError(
      `There is no secret ${id} in ${region}: is the deployment called ${name} (--name), and is this its first region (--region)?`,
    );
  }
}

async function fromDeployment(deployment: Deployment): Promise<ManagementApi> {
  const { name, region } = deployment;
  const { login } = await readLogin(deployment);
  const client = new CloudFormationClient({ ...clientOptions('quick'), region });
  const { ManagementUrl: url } = await outputsOf(client, `${name}-Management`);
  if (url === undefined)
    throw new OperateError(`The stack ${name}-Management in ${region} has no ManagementUrl.`);
  return { url, ...login };
}

interface Asked {
  readonly name: string | undefined;
  readonly region: string | undefined;
}

/**
 * Finds the management API, in this order: of the named deployment; from the variables `SVC_MANAGEMENT_URL`,
 * `SVC_MANAGEMENT_USER` and `SVC_MANAGEMENT_PASSWORD`; of this folder's local stage; of the deployment `Svc` in eu-central-1.
 *
 * @throws OperateError if it is not found
 */
export async function findManagementApi({ name, region }: Asked): Promise<ManagementApi> {
  const deployment = { name: name ?? 'Svc', region: region ?? 'eu-central-1' };
  if (name !== undefined || region !== undefined) return fromDeployment(deployment);
  const given = fromVariables(process.env);
  if (given !== undefined) return given;
  const file = '.svc/env';
  const local = existsSync(file) ? fromVariables(parseEnv(readFileSync(file, 'utf8'))) : undefined;
  return local ?? fromDeployment(deployment);
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/v2/svc/`. */
  readonly path: string;
  readonly body?: unknown;
}

const refusal = z.object({ error: z.string() });

/** The timeout, in milliseconds. The gateway's is 29 s. */
const limitMs = 60_000;

/**
 * Calls the management API.
 *
 * @returns the answer's body, and the path of the next page, if any
 * @throws OperateError with the API's message if it refuses the call
 */
export async function callManagementApi(
  { url, username, password }: ManagementApi,
  { method = 'GET', path, body }: Call,
): Promise<{ readonly body: unknown; readonly next: string | undefined }> {
  const address = new URL(`v2/svc/${path}`, url.endsWith('/') ? url : `${url}/`);
  const response = await send(address, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(limitMs),
  });
  const text = await response.text();
  if (!response.ok) {
    const sentence = refusalIn(text) ?? text.slice(0, 300);
    throw new OperateError(`${address.origin} answered ${response.status.toString()}: ${sentence}`);
  }
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  const query = /^<(\?[^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  return { body: json, next: query === undefined ? undefined : `${path.split('?')[0] ?? ''}${query}` };
}

/** Errors of Node.js for a certificate whose authority is unknown. */
const ofUnknownAuthority = /_ISSUER_CERT|SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF/;

async function send(address: URL, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isUnknown =
      cause instanceof Error && 'code' in cause && ofUnknownAuthority.test(String(cause.code));
    const remedy = isUnknown
      ? '. Set NODE_EXTRA_CA_CERTS to the file with the certificate of its authority.'
      : '';
    throw new OperateError(`${address.origin} does not answer: ${reason}${remedy}`);
  }
}

function refusalIn(text: string): string | undefined {
  try {
    return refusal.safeParse(JSON.parse(text)).data?.error;
  } catch {
    // The answer is not the service's own, so its text is shown.
    return undefined;
  }
}
