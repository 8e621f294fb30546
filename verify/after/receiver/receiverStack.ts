import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function, FunctionUrlAuthType, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ReceiverHost } from './inbox.ts';
import { receiverCode } from './receiverCode.ts';
import { makeStack, removeStack, templateOf } from './stacks.ts';

/** The receiver's functions. A function URL waits until its function's timeout, at most 15 minutes. */
const hosts: Readonly<Record<ReceiverHost, { readonly id: string; readonly timeout: Duration }>> = {
  quick: { id: 'Receiver', timeout: Duration.seconds(25) },
  slow: { id: 'Slow', timeout: Duration.minutes(15) },
};
const hostNames: readonly ReceiverHost[] = ['quick', 'slow'];

/** The names of the receiver's stack, functions and log groups. */
export const receiverNames = (deployment: string) => ({
  stack: `${deployment}-Verify`,
  functions: { quick: `${deployment}-verify`, slow: `${deployment}-verify-slow` },
  logGroups: [`/aws/lambda/${deployment}-verify`, `/aws/lambda/${deployment}-verify-slow`],
});

export function receiverTemplate(deployment: string): string {
  const names = receiverNames(deployment);
  return templateOf(names.stack, (stack) => {
    const code = Code.fromInline(receiverCode());
    for (const host of hostNames) {
      const { id, timeout } = hosts[host];
      const logGroup = new LogGroup(stack, `${id}Log`, {
        logGroupName: `/aws/lambda/${names.functions[host]}`,
        retention: RetentionDays.ONE_DAY,
        removalPolicy: RemovalPolicy.DESTROY,
      });
      const logging = new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      });
      const receiver = new Function(stack, id, {
        functionName: names.functions[host],
        description: 'Receives the messages of svc-queue verify, which takes it away',
        runtime: Runtime.NODEJS_24_X,
        handler: 'index.handler',
        code,
        timeout,
        memorySize: 256,
        logGroup,
        role: new Role(stack, `${id}Role`, {
          assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
          inlinePolicies: { Log: new PolicyDocument({ statements: [logging] }) },
        }),
      });
      const { url } = receiver.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
      new CfnOutput(stack, `${id}Url`, { value: url });
    }
  });
}

/** How long CloudFormation may take for the receiver, in seconds. */
const maxWaitTime = 300;

/** @returns whether it existed */
export const removeReceiver = (client: CloudFormationClient, deployment: string): Promise<boolean> =>
  removeStack(client, receiverNames(deployment).stack, maxWaitTime);

export async function makeReceiver(
  client: CloudFormationClient,
  deployment: string,
  abortSignal: AbortSignal,
): Promise<Readonly<Record<ReceiverHost, string>>> {
  const template = receiverTemplate(deployment);
  const stack = { name: receiverNames(deployment).stack, template, maxWaitTime, minDelay: 2, maxDelay: 5 };
  const { ReceiverUrl: quick = '', SlowUrl: slow = '' } = await makeStack(client, stack, abortSignal);
  return { quick, slow };
}
