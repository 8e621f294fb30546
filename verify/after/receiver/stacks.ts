import {
  type CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { outputsOf } from '../deployed.ts';

/** Creates a stack, and waits until it is complete. @returns its outputs */
export async function makeStack(
  client: CloudFormationClient,
  { name: StackName, template: TemplateBody }: { readonly name: string; readonly template: string },
  waiting: Omit<Parameters<typeof waitUntilStackCreateComplete>[0], 'client'>,
): Promise<Readonly<Record<string, string>>> {
  await client.send(
    new CreateStackCommand({
      StackName,
      TemplateBody,
      Capabilities: ['CAPABILITY_IAM'],
      OnFailure: 'DELETE',
    }),
  );
  await waitUntilStackCreateComplete({ client, ...waiting }, { StackName });
  return outputsOf(client, StackName);
}

/** @returns whether it existed */
export async function removeStack(
  client: CloudFormationClient,
  StackName: string,
  maxWaitTime: number,
): Promise<boolean> {
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
