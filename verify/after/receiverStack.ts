/** The stack of the receiver. CloudFormation makes it as a whole, and takes it away as a whole. */
import { join } from 'node:path';
import {
  type CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { App, CfnOutput, Duration, LegacyStackSynthesizer, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function, FunctionUrlAuthType, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { buildSync } from 'esbuild';
import { outputsOf } from './deployed.ts';

/** Bundles the receiver as one text of CommonJS, which is what Lambda makes of code that stands in a template. */
export function receiverCode(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(import.meta.dirname, 'receiver.ts')],
    write: false,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  });
  return outputFiles.map(({ text }) => text).join('');
}

/** The names of the receiver's stack, function and log group. */
export const receiverNames = (deployment: string) => ({
  stack: `${deployment}-Verify`,
  function: `${deployment}-verify`,
  logGroup: `/aws/lambda/${deployment}-verify`,
});

/** Makes the template; its output `Url` is where the receiver is. */
export function receiverTemplate(deployment: string): string {
  const names = receiverNames(deployment);
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, names.stack, { synthesizer: new LegacyStackSynthesizer() });
  const logGroup = new LogGroup(stack, 'Log', {
    logGroupName: names.logGroup,
    retention: RetentionDays.ONE_DAY,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const logging = new PolicyStatement({
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [logGroup.logGroupArn],
  });
  const receiver = new Function(stack, 'Receiver', {
    functionName: names.function,
    description: 'Receives the messages of svc-queue verify, which takes it away',
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline(receiverCode()),
    timeout: Duration.seconds(25),
    memorySize: 256,
    logGroup,
    role: new Role(stack, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Log: new PolicyDocument({ statements: [logging] }) },
    }),
  });
  const { url } = receiver.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
  new CfnOutput(stack, 'Url', { value: url });
  return JSON.stringify(app.synth().getStackByName(names.stack).template);
}

/** Seconds that CloudFormation may take for the four resources of the receiver. */
const maxWaitTime = 300;

/** @returns whether there was one */
export async function removeReceiver(client: CloudFormationClient, deployment: string): Promise<boolean> {
  const { stack: StackName } = receiverNames(deployment);
  try {
    await client.send(new DescribeStacksCommand({ StackName }));
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError') return false;
    throw error;
  }
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, maxWaitTime, minDelay: 2, maxDelay: 5 }, { StackName });
  return true;
}

/** Makes the receiver. @returns its URL */
export async function makeReceiver(
  client: CloudFormationClient,
  deployment: string,
  abortSignal: AbortSignal,
): Promise<string> {
  const { stack: StackName } = receiverNames(deployment);
  await client.send(
    new CreateStackCommand({
      StackName,
      TemplateBody: receiverTemplate(deployment),
      Capabilities: ['CAPABILITY_IAM'],
      OnFailure: 'DELETE',
    }),
  );
  const waiting = { client, maxWaitTime, minDelay: 2, maxDelay: 5, abortSignal };
  await waitUntilStackCreateComplete(waiting, { StackName });
  return (await outputsOf(client, StackName))['Url'] ?? '';
}
