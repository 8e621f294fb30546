import {
  type CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { allOf, ifThere } from './awsCalls.ts';
import { OperateError } from './operateError.ts';

export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
  /** Such as `CREATE_COMPLETE`. */
  readonly status: string;
}

export async function stackResources(
  client: CloudFormationClient,
  StackName: string,
): Promise<readonly StackResource[]> {
  const pages = paginateListStackResources({ client }, { StackName });
  return (await allOf(pages, (page) => page.StackResourceSummaries)).map((one) => ({
    logicalId: one.LogicalResourceId ?? '',
    type: one.ResourceType ?? '',
    physicalId: one.PhysicalResourceId ?? '',
    status: one.ResourceStatus ?? '',
  }));
}

/** @returns undefined if there is no such stack */
export const describeStack = async (client: CloudFormationClient, StackName: string) =>
  (await ifThere(client.send(new DescribeStacksCommand({ StackName })), /^ValidationError: .*does not exist/))
    ?.Stacks?.[0];

/** @throws OperateError if the stack does not exist */
export async function outputsOf(
  client: CloudFormationClient,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const stack = await describeStack(client, name);
  if (stack === undefined)
    throw new OperateError(`There is no stack ${name}. Deploy first: svc-queue deploy.`);
  return Object.fromEntries(
    (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  );
}
