import {
  type CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';

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
