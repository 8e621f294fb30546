import type { Deployment } from './environment.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The code that bash or zsh needs for the commands in the documents: the region, and a function that finds resources. */
export const shellCode = ({ region, name }: Deployment): string => `\
export AWS_REGION=${quoted(region)} AWS_DEFAULT_REGION=${quoted(region)} # version 1 of the AWS CLI reads the second
svc_deployment=${quoted(name)}

# Prints the ids of a stack's resources: resource <Service or State> <type without AWS::> [<the beginning of the logical id>].
# A service stack has more than 100 resources, where describe-stack-resources ends; this reads all pages.
resource() {
  aws cloudformation list-stack-resources --stack-name "$svc_deployment-$AWS_REGION-$1" --output text \\
    --query "StackResourceSummaries[?ResourceType=='AWS::$2' && starts_with(LogicalResourceId, '\${3:-}')].PhysicalResourceId"
}
`;
