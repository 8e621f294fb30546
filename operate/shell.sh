# For an operator's shell, bash or zsh: `. operate/shell.sh <region> [<name of the deployment, if it is not Svc>]`.
export AWS_REGION=$1 AWS_DEFAULT_REGION=$1 # version 1 of the AWS CLI reads the second
name=${2:-Svc}

# The ids of a stack's resources: `resource <Service or State> <type without AWS::> [<the beginning of the logical id>]`.
# A service stack has more than 100 resources, where `describe-stack-resources` ends; this reads all pages.
resource() {
  aws cloudformation list-stack-resources --stack-name "$name-$AWS_REGION-$1" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::$2' && starts_with(LogicalResourceId, '${3:-}')].PhysicalResourceId"
}
