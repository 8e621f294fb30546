import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { stageVariables, type Environment } from '../cli/commandLine.ts';
import { clientOptions } from '../lambdas/aws/clientOptions.ts';
import type { Deployment } from './environment.ts';
import { callApi } from './callApi.ts';
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

function fromVariables(environment: Environment): ManagementApi | undefined {
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
  return fromVariables(stageVariables(process.env)) ?? fromDeployment(deployment);
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/v2/svc/`. */
  readonly path: string;
  readonly body?: unknown;
}

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
  const { text, headers } = await callApi(
    new URL(`v2/svc/${path}`, url.endsWith('/') ? url : `${url}/`),
    `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    },
  );
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  const query = /^<(\?[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return { body: json, next: query === undefined ? undefined : `${path.split('?')[0] ?? ''}${query}` };
}
