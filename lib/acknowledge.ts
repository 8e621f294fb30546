/**
 * Accepts findings of cdk-nag (its packs AwsSolutions, Serverless and NIST 800-53 r5). Each is accepted where its construct is made, in the CDK's own way, so an
 * organisation that checks the app with cdk-nag gets what is not accepted, and nothing else. A test fails on every other
 * finding, and on every acceptance that no finding needs.
 */
import { Stack, Token, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import * as z from 'zod';

/**
 * Accepts findings in a construct, or in what is below it.
 *
 * @param rules that find the same thing; with the finding in brackets, where a rule can find several things in one resource
 */
export function accept(construct: IConstruct, rules: string | readonly string[], reason: string): void {
  for (const id of [rules].flat()) Validations.of(construct).acknowledge({ id, reason });
}

/** Accepts what cdk-nag finds in a secret that is not rotated by Secrets Manager. @param reason why it is not */
export function acceptSecret(secret: Secret, reason: string): void {
  accept(secret, ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'], reason);
  accept(
    secret,
    'NIST.800.53.R5-SecretsManagerUsingKMSKey',
    'Secrets Manager encrypts it with a key of the AWS account, and the functions’ roles bound who reads it. A key of its own would ' +
      'cost $1 a month in each region, and the secret would be lost with it.',
  );
}

/** Accepts that CloudWatch Logs encrypts a log with its own key. */
export function acceptLog(log: IConstruct): void {
  accept(
    log,
    'NIST.800.53.R5-CloudWatchLogGroupEncrypted',
    'CloudWatch Logs encrypts it with a key of its own, and it has no token, key, body or query in it. A key of the operator would ' +
      'be one that nothing works without.',
  );
}

/** Accepts that a role's rights are in a separate policy. */
export function acceptOwnPolicy(role: IConstruct): void {
  accept(
    role,
    'NIST.800.53.R5-IAMNoInlinePolicy',
    'The role is for one purpose, and nobody else may have its rights. A managed policy could be attached to others.',
  );
}

/** Allows actions on resources that a pattern names, which a role accepts for the reason. */
export class PatternStatement extends PolicyStatement {
  readonly rule: string;
  readonly reason: string;

  /** @param shown the pattern as cdk-nag writes it, where that is another text */
  constructor(actions: readonly string[], pattern: string, reason: string, shown = pattern) {
    super({ actions: [...actions], resources: [pattern] });
    this.rule = `AwsSolutions-IAM5[Resource::${shown}]`;
    this.reason = reason;
  }
}

/** An ARN as cdk-nag writes it. */
export const shownArn = ({ partition, account }: Stack, arn: string): string =>
  arn
    .replace(partition, '<AWS::Partition>')
    .replace(account, Token.isUnresolved(account) ? '<AWS::AccountId>' : account);

const importValue = z.object({ 'Fn::ImportValue': z.string() });

/** The objects of a bucket as cdk-nag writes them: by the name under which the bucket's stack exports its ARN to the others. */
export function shownObjectsOf(bucket: IBucket): string {
  const stack = Stack.of(bucket);
  const imported: unknown = stack.resolve(stack.exportValue(bucket.bucketArn));
  return `${importValue.parse(imported)['Fn::ImportValue']}/*`;
}
