import { type CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';

export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
  /** Such as `CREATE_COMPLETE`. */
  readonly status: string;
}

export async function* stackResources(
  client: CloudFormationClient,
  StackName: string,
): AsyncGenerator<StackResource> {
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const {
      LogicalResourceId: logicalId = '',
      ResourceType: type = '',
      PhysicalResourceId: physicalId = '',
      ResourceStatus: status = '',
    } of StackResourceSummaries)
      yield { logicalId, type, physicalId, status };
  }
}

export async function resourcesOf(
  client: CloudFormationClient,
  stackNames: readonly string[],
): Promise<readonly StackResource[]> {
  const read = async (name: string): Promise<readonly StackResource[]> => {
    const all: StackResource[] = [];
    for await (const resource of stackResources(client, name)) all.push(resource);
    return all;
  };
  return (await Promise.all(stackNames.map(read))).flat();
}
