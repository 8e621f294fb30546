/**
 * Moves aliases to a new release step by step, with the setting `canary`: CodeDeploy sends it one invocation in ten for five
 * minutes, then all. An alarm within these minutes moves the alias back and fails the deployment.
 */
import { Aws, type Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { accept } from '../acknowledge.ts';
import type { SvcFunction } from './function.ts';

/**
 * @param functions fewer than 15, because CodeDeploy throttles more deployment groups in a stack ("Rate exceeded")
 * @param alarms at most ten: "Quotas for CodeDeploy"
 */
export function shiftStepByStep(
  stack: Stack,
  functions: readonly SvcFunction[],
  alarms: readonly Alarm[],
): void {
  const application = new LambdaApplication(stack, 'Canary');
  const policy = 'service-role/AWSCodeDeployRoleForLambdaLimited';
  const role = new Role(stack, 'CanaryRole', {
    // "Cross-service confused deputy prevention", CodeDeploy User Guide.
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
  });
  accept(
    role,
    `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
    'AWS documents this policy for CodeDeploy ("Create a service role for CodeDeploy"), and changes it with the service.',
  );
  for (const { node, live } of functions) {
    new LambdaDeploymentGroup(stack, `${node.id}Canary`, {
      application,
      role,
      alias: live,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [...alarms],
    });
  }
}
