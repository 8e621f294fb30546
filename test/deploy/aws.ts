/** AWS calls of the test itself, made as an operator would. */
import * as z from 'zod';
import { rootUser } from './emulator.ts';

/** Where a request goes. */
interface Where {
  readonly region: string;
  readonly service: string;
}

/**
 * Calls AWS as the emulator’s root user, without an SDK client for these few requests. The emulator checks no signature of that
 * user, so requests are not signed.
 *
 * @returns the answer
 */
async function send(endpoint: string, where: Where, request: RequestInit): Promise<string> {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const scope = `${rootUser.accessKeyId}/${day}/${where.region}/${where.service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const headers = new Headers(request.headers);
  headers.set('Authorization', authorization);
  const signal = AbortSignal.timeout(60_000);
  const response = await fetch(endpoint, { ...request, method: 'POST', headers, signal });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${where.service} in ${where.region} answered ${response.status.toString()}: ${text}`);
  return text;
}

/** Calls a service whose requests and answers are JSON. */
async function call(
  endpoint: string,
  where: Where & { readonly target: string },
  body: unknown,
): Promise<unknown> {
  const headers = { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': where.target };
  return JSON.parse(await send(endpoint, where, { headers, body: JSON.stringify(body) }));
}

const secretShape = z.object({ SecretString: z.string() });

/** Reads a secret, as an operator does with `aws secretsmanager get-secret-value`: see docs/deploy.md. */
export async function readSecret(endpoint: string, region: string, name: string): Promise<string> {
  const where = { region, service: 'secretsmanager', target: 'secretsmanager.GetSecretValue' };
  return secretShape.parse(await call(endpoint, where, { SecretId: name })).SecretString;
}

/** Makes a table’s replicas. The emulator has global tables, but its CloudFormation ignores replicas. */
export async function replicateTable(
  endpoint: string,
  table: string,
  { from, to }: { readonly from: string; readonly to: readonly string[] },
): Promise<void> {
  const where = { region: from, service: 'dynamodb', target: 'DynamoDB_20120810.UpdateTable' };
  const ReplicaUpdates = to.map((RegionName) => ({ Create: { RegionName } }));
  await call(endpoint, where, { TableName: table, ReplicaUpdates });
}

const groupsShape = z.object({ logGroups: z.array(z.object({ logGroupName: z.string() })) });
const eventsShape = z.object({
  events: z.array(z.object({ timestamp: z.number(), message: z.string() })),
});

/** A line that Lambda, not the function, writes about a request. */
const ofLambda = /^(START|END|REPORT) RequestId/;

/** The last lines that the functions of a region logged, oldest first. */
export async function functionLogs(endpoint: string, region: string, lines: number): Promise<string> {
  const logs = (action: string, body: unknown) =>
    call(endpoint, { region, service: 'logs', target: `Logs_20140328.${action}` }, body);
  const { logGroups } = groupsShape.parse(await logs('DescribeLogGroups', {}));
  const events = await Promise.all(
    logGroups.map(async ({ logGroupName }) =>
      eventsShape
        .parse(await logs('FilterLogEvents', { logGroupName }))
        .events.map((event) => ({ ...event, logGroupName })),
    ),
  );
  return events
    .flat()
    .filter(({ message }) => !ofLambda.test(message))
    .sort((a, b) => a.timestamp - b.timestamp)
    .slice(-lines)
    .map(
      ({ timestamp, logGroupName, message }) =>
        `${new Date(timestamp).toISOString()} ${logGroupName} ${message.trimEnd()}`,
    )
    .join('\n');
}

/** Calls IAM, whose requests are forms and whose answers are XML. */
const callIam = (endpoint: string, region: string, form: Readonly<Record<string, string>>): Promise<string> =>
  send(
    endpoint,
    { region, service: 'iam' },
    { body: new URLSearchParams({ Version: '2010-05-08', ...form }) },
  );

/** Makes a role without rights for a Lambda function. */
export async function makeFunctionRole(endpoint: string, region: string, RoleName: string): Promise<void> {
  const Statement = [
    { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
  ];
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  await callIam(endpoint, region, { Action: 'CreateRole', RoleName, AssumeRolePolicyDocument });
}

/** Denies actions to a role. @returns a function that allows them again */
export async function refuse(
  endpoint: string,
  region: string,
  RoleName: string,
  Action: string,
): Promise<() => Promise<unknown>> {
  const PolicyDocument = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Deny', Action, Resource: '*' }],
  });
  const policy = { RoleName, PolicyName: 'refuse' };
  await callIam(endpoint, region, { Action: 'PutRolePolicy', PolicyDocument, ...policy });
  return () => callIam(endpoint, region, { Action: 'DeleteRolePolicy', ...policy });
}
