/**
 * Accepts findings of cdk-nag (AwsSolutions, Serverless and NIST 800-53 r5). A test fails on any other finding, and on an
 * acceptance without a finding.
 */
import { Stack, Token, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IConstruct } from 'constructs';
import * as z from 'zod';

/**
 * Accepts findings in a construct and everything below it.
 *
 * @param rules that find the same thing, with the finding in brackets if a rule can find several
 */
export function accept(construct: IConstruct, rules: string | readonly string[], reason: string): void {
  for (const id of [rules].flat()) Validations.of(construct).acknowledge({ id, reason });
}

export function acceptSecret(secret: Secret, reason: string): void {
  accept(secret, ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'], reason);
  accept(
    secret,
    'NIST.800.53.R5-SecretsManagerUsingKMSKey',
    'Secrets Manager encrypts it with a key of the AWS account, and the functions’ roles bound who reads it. A separate key would ' +
      'cost $1 a month in each region, and the secret would be lost with it.',
  );
}

export function acceptLog(log: IConstruct): void {
  accept(
    log,
    'NIST.800.53.R5-CloudWatchLogGroupEncrypted',
    'CloudWatch Logs encrypts it with its own key, and it has no token, key, body or query in it. A key of the operator would ' +
      'be one that nothing works without.',
  );
}

export function acceptOwnPolicy(role: IConstruct): void {
  accept(
    role,
    'NIST.800.53.R5-IAMNoInlinePolicy',
    'The role is for one purpose, and no one else may have its rights. A managed policy could be attached to others.',
  );
}

/** A statement whose resources are a pattern. Roles that get it accept the finding with the reason. */
export class PatternStatement extends PolicyStatement {
  readonly rule: string;
  readonly reason: string;

  /** @param shown the pattern as cdk-nag writes it, if that differs */
  constructor(actions: readonly string[], pattern: string, reason: string, shown = pattern) {
    super({ actions: [...actions], resources: [pattern] });
    this.rule = `AwsSolutions-IAM5[Resource::${shown}]`;
    this.reason = reason;
  }
}

export const shownArn = ({ partition, account }: Stack, arn: string): string =>
  arn
    .replace(partition, '<AWS::Partition>')
    .replace(account, Token.isUnresolved(account) ? '<AWS::AccountId>' : account);

const importValue = z.object({ 'Fn::ImportValue': z.string() });

/** A bucket's objects as cdk-nag writes them: with the name of the exported ARN. */
export function shownObjectsOf(bucket: IBucket): string {
  const stack = Stack.of(bucket);
  const imported: unknown = stack.resolve(stack.exportValue(bucket.bucketArn));
  return `${importValue.parse(imported)['Fn::ImportValue']}/*`;
}
