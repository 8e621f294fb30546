/** Makes the receiver, and takes it away. */
import {
  type CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { outputsOf } from './deployed.ts';
import { receiverNames, receiverTemplate } from './receiverStack.ts';

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
